package codealer_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/dealer/api"
	"shuffled/internal/dealer/blind"
	"shuffled/internal/dealer/record"
	"shuffled/internal/keys"
	"shuffled/internal/seal"
	"shuffled/internal/verify"
	"shuffled/internal/witness/witnesstest"
)

// newest is the receipt of a shuffle's newest entry.
func (p *pair) newest(id uint64) string {
	p.t.Helper()
	p.proved(id, api.View{})
	b, err := p.house.dealer.Transcript(p.t.Context(), id, api.View{})
	check(p.t, err)
	f, err := openings.ParseTranscript(b)
	check(p.t, err)
	return f.Receipt(len(f.Receipts) - 1)
}

// refused has the next place of an order asked for behind a commit.
func (p *pair) refused(order uint64, first int, commit, words string) {
	p.t.Helper()
	_, err := p.lab.dealer.Deal(p.t.Context(), audit.Actor{Identity: "cards", Credential: "cards"}, order,
		api.DealRequest{First: first, Runs: []audit.Run{board(1)}, Asked: &api.Asking{Commit: commit}})
	if err == nil || !strings.Contains(err.Error(), words) {
		p.t.Errorf("%v, want a refusal with %q", err, words)
	}
}

// TestAskedBehind: the co-dealer deals behind an entry of the house that the house's witnesses saw, and
// behind the deal that names its last one.
func TestAskedBehind(t *testing.T) {
	p := newPair(t, setting{})
	s := p.blind("hand")
	order, commit := p.lab.ledger.Head().Size-1, p.newest(s.ID)
	signed := strings.Index(commit, "\n— ")
	draft := commit[:signed+1+strings.Index(commit[signed+1:], "\n")+1] // under the house's signature alone
	p.refused(order, 0, draft, "lacks the quorum")
	p.deal(s.ID, 0, board(1))
	p.refused(order, 1, commit, "the deal that names the last deal of the order")
}

// again is a house that names one order for every shuffle.
type again struct {
	blind.CoDealer
	order string
}

func (a *again) Order(ctx context.Context, origin string, like *audit.Context, by int64) (_ string, err error) {
	if a.order == "" {
		a.order, err = a.CoDealer.Order(ctx, origin, like, by)
	}
	return a.order, err
}

// grown changes what shows that the co-dealer's ledger only grew.
type grown struct {
	blind.CoDealer
	change func(*audit.Last)
}

func (g *grown) Ask(ctx context.Context, n blind.Next, runs []audit.Run, a api.Asking) (record.Given, error) {
	given, err := g.CoDealer.Ask(ctx, n, runs, a)
	g.change(&given.Last)
	return given, err
}

// TestNotGrown: a deal is not written without the proof that the co-dealer's ledger only grew since the deal before.
func TestNotGrown(t *testing.T) {
	p := newPair(t, setting{})
	way := &grown{CoDealer: p.way, change: func(*audit.Last) {}}
	p.house.cfg.CoDealer = way
	p.house.serve()
	s := p.blind("hand")
	p.deal(s.ID, 0, board(1))
	size := p.house.ledger.Head().Size
	for what, change := range map[string]func(*audit.Last){
		"none":         func(l *audit.Last) { *l = audit.Last{} },
		"another leaf": func(l *audit.Last) { l.Leaf[0] ^= 1 },
		"another hash": func(l *audit.Last) { l.Proof[0][0] ^= 1 },
	} {
		way.change = change
		_, err := p.house.dealer.Deal(t.Context(), house, s.ID, api.DealRequest{First: 1,
			Runs: []audit.Run{board(1)}})
		if !errors.Is(err, api.ErrCoDealer) || p.house.ledger.Head().Size != size {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestUsedOrder: an order of which one place was dealt for a shuffle is dealt from for no other, and closes behind that
// shuffle only.
func TestUsedOrder(t *testing.T) {
	p := newPair(t, setting{})
	p.house.cfg.CoDealer = &again{CoDealer: p.way}
	p.house.serve()
	s := p.blind("hand")
	order := p.lab.ledger.Head().Size - 1
	p.deal(s.ID, 0, board(1))
	second := p.blind("another", func(r *api.ShuffleRequest) { r.Table = "u" })
	p.refused(order, 1, p.newest(second.ID), "the order is already used by shuffle")
	made, err := p.lab.ledger.Entries(t.Context(), order, order+1)
	check(t, err)
	_, err = p.lab.dealer.Close(t.Context(), made[0].Entry.Actor, order, api.CloseRequest{
		Outcome: audit.OutcomeVoid, Reason: audit.ReasonMisdeal})
	if err == nil || !strings.Contains(err.Error(), "closes behind the shuffle that it is for") {
		t.Errorf("a close as void, with one place dealt: %v", err)
	}
}

// TestPinChanges: answers are checked under the newest pin, and a shuffle goes on with the co-dealer that it names when
// the ledger names none any more.
func TestPinChanges(t *testing.T) {
	p := newPair(t, setting{})
	s := p.blind("hand")
	p.deal(s.ID, 0, board(1))
	pin := func(w *witnesstest.Witness) {
		p.house.append(&audit.Key{Subject: audit.SubjectCoDealer, Origin: labOrigin, Public: p.lab.signers[0].Public(),
			Policy: []byte(fmt.Sprintf("log %s\n%s\nquorum %s\n", p.lab.vkey, w.PolicyLine, w.Name))})
	}
	pin(witnesstest.Start(t, p.lab.vkey)) // which the co-dealer does not ask
	_, err := p.house.dealer.Deal(within(t, time.Second), house, s.ID, api.DealRequest{First: 1,
		Runs: []audit.Run{board(1)}})
	if !errors.Is(err, api.ErrCoDealer) {
		t.Errorf("an answer that the new policy does not cover: %v", err)
	}
	pin(p.witness)
	p.deal(s.ID, 1, board(1))
	p.house.append(&audit.Key{Subject: audit.SubjectCoDealer})
	p.deal(s.ID, 2, board(1))
	p.close(s.ID, completed)
	p.proved(s.ID, api.View{})
}

// TestTapeLost: the co-dealer loses the tape of an order, says so, and what was dealt stays proved.
func TestTapeLost(t *testing.T) {
	p := newPair(t, setting{})
	s := p.blind("hand")
	order := p.lab.ledger.Head().Size - 1
	p.deal(s.ID, 0, board(2))
	key, err := seal.NewKey(keys.GenerateSealing().Bytes())
	check(t, err)
	p.lab.cfg.Keys, err = seal.NewKeyring(key)
	check(t, err)
	p.lab.serve()
	_, err = p.lab.dealer.Close(t.Context(), audit.Operator, order,
		api.CloseRequest{Outcome: audit.OutcomeVoid, Reason: audit.ReasonTapeLost})
	check(t, err)
	p.close(s.ID, gone)
	if v := p.proved(s.ID, api.View{}); len(v.Blind.Requests) != 1 {
		t.Errorf("%+v", v.Blind)
	}
}

// TestOrderEnds: a transcript has the close of the order, which says how much was opened, also of a hand that was
// looked at and ended. A kept close that does not fit is left out.
func TestOrderEnds(t *testing.T) {
	for name, want := range map[string]verify.Verdict{"nothing": {}, "played": {}, "unplayed": {},
		"looked": {DealtOn: verify.OpenedOnly, NotDealtOn: 1}, "peeked": {DealtOn: verify.OpenedOnly, NotDealtOn: 1},
		"planted": {DealtOn: verify.DealtOnNotShown}} {
		t.Run(name, func(t *testing.T) {
			p := newPair(t, setting{})
			s := p.blind("hand")
			order := p.lab.ledger.Head().Size - 1
			first := 0
			if name != "nothing" && name != "peeked" {
				first = p.deal(s.ID, 0, burn, seat(2, "a")).Next
			}
			if name == "looked" || name == "peeked" || name == "unplayed" {
				p.front.broken("/deal", lost)
				_, err := p.house.dealer.Deal(within(t, time.Second), house, s.ID, api.DealRequest{First: first,
					Runs: []audit.Run{board(1)}})
				if err == nil {
					t.Fatal("dealt")
				}
				p.front.broken("", nil)
			}
			switch name {
			case "looked", "peeked": // the house does not hear which deals the order has
				p.front.broken(fmt.Sprintf("/%d", order), lost)
			case "planted":
				check(t, p.house.store.PutStatement(t.Context(), p.house.ledger.ID(), p.house.ledger.Head().Size, 0,
					fmt.Appendf(nil, `{"receipt":%q}`, s.CoDealer)))
			}
			p.close(s.ID, gone)
			p.front.broken("", nil)
			<-p.kept
			v := p.proved(s.ID, api.View{})
			if v.DealtOn != want.DealtOn || v.NotDealtOn != want.NotDealtOn {
				t.Errorf("%q, %d places", v.DealtOn, v.NotDealtOn)
			}
		})
	}
}
