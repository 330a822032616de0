package dealer_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/audit/rules"
	"shuffled/internal/dealer"
	"shuffled/internal/dealer/api"
	"shuffled/internal/disclosure"
	"shuffled/internal/entropy"
	"shuffled/internal/ledger"
	"shuffled/internal/verify"
)

// newAuditors returns n auditors and their public keys.
func newAuditors(t *testing.T, n int) (auditors []*disclosure.Auditor, publics [][]byte) {
	t.Helper()
	for i := range n {
		private := append([]byte{audit.KeyHybrid}, bytes.Repeat([]byte{byte(i + 1)}, audit.PrivateSize)...)
		a, err := disclosure.NewAuditor(private)
		must(t, err)
		auditors, publics = append(auditors, a), append(publics, a.Public())
	}
	return auditors, publics
}

// onBoth runs a test on a table of each store, where auditors get the tapes.
func onBoth(t *testing.T, auditors int, test func(t *testing.T, tb *table, auditors []*disclosure.Auditor)) {
	t.Helper()
	t.Parallel()
	for _, postgres := range []bool{false, true} {
		t.Run(map[bool]string{false: "sqlite", true: "postgres"}[postgres], func(t *testing.T) {
			t.Parallel()
			all, publics := newAuditors(t, auditors)
			test(t, newTableWith(t, setting{postgres: postgres, auditors: publics,
				disclosure: audit.DisclosureAuditor}), all)
		})
	}
}

var hand = api.ShuffleRequest{Table: "t", Deck: "standard-52"}

// entries reads the ledger from entry 0, as an auditor does, and holds it against the rules.
func (tb *table) entries() []audit.Entry {
	tb.t.Helper()
	var all []audit.Entry
	state := rules.NewState()
	for row, err := range tb.open.Store.Rows(tb.t.Context(), tb.Ledger().ID(), 0, audit.MaxInteger) {
		must(tb.t, err)
		e, err := audit.ParseEntry(row.Entry)
		must(tb.t, err)
		if err := state.Apply(e); err != nil {
			tb.t.Fatalf("entry %d: %v", row.Index, err)
		}
		all = append(all, e)
	}
	return all
}

// keysIn returns the indexes of the disclosure keys.
func keysIn(entries []audit.Entry) (at []int) {
	for i, e := range entries {
		if k, ok := e.Body.(*audit.Key); ok && k.Subject == audit.SubjectDisclosure {
			at = append(at, i)
		}
	}
	return at
}

// opened opens the tape of every shuffle closed for auditors, with nothing but
// the ledger and the auditor's key, and holds each against its commitment.
func (tb *table) opened(a *disclosure.Auditor) map[uint64][]byte {
	tb.t.Helper()
	entries := tb.entries()
	tapes := make(map[uint64][]byte)
	for i, e := range entries {
		c, ok := audit.DisclosedBy(e.Body)
		if !ok || c.Form != audit.FormSealed {
			continue
		}
		o, err := a.Unwrap(origin, entries[c.Key].Body.(*audit.Key))
		if errors.Is(err, disclosure.ErrNoWrap) {
			continue
		}
		if err != nil {
			tb.t.Fatalf("entry %d: %v", c.Key, err)
		}
		commit := entries[c.Shuffle].Body.(*audit.Commit)
		tape, err := o.Open(origin, c.Shuffle, commit.Commitment, c.Tape)
		if err != nil {
			tb.t.Fatalf("entry %d: %v", i, err)
		}
		if openings.Commitment(commit.Context.Encode(), tape) != commit.Commitment {
			tb.t.Errorf("entry %d: the tape is not the one committed to", i)
		}
		tapes[c.Shuffle] = tape
	}
	return tapes
}

func (tb *table) append(bodies ...audit.Body) {
	tb.t.Helper()
	if _, err := tb.Ledger().Append(tb.t.Context(),
		ledger.Proposal{Actor: as("operator"), Bodies: bodies}); err != nil {
		tb.t.Fatal(err)
	}
}

func (tb *table) close(id uint64) api.Close {
	tb.t.Helper()
	c, err := tb.Close(tb.t.Context(), as("tester"), id, api.CloseRequest{Outcome: audit.OutcomeEndedEarly})
	must(tb.t, err)
	return c
}

// TestForAuditorsOnly: three ways to the end of a hand, whose tape goes to the
// auditors and to nobody else; every repeat gets the same bytes.
func TestForAuditorsOnly(t *testing.T) {
	onBoth(t, 3, func(t *testing.T, tb *table, auditors []*disclosure.Auditor) {
		closed := tb.commit("closed", hand)
		if closed.ID != 3 {
			t.Errorf("the first commit is entry %d: 2 is its disclosure key", closed.ID)
		}
		dealt := tb.commit("dealt", hand)
		forgotten := tb.commit("forgotten", hand)
		everybody := tb.commit("everybody",
			api.ShuffleRequest{Table: "u", Deck: "standard-52", Disclosure: audit.DisclosurePublic})
		tb.deal(closed.ID, api.DealRequest{Runs: []audit.Run{seat(2, "a"), board(3),
			{Count: 1, Purpose: audit.PurposeBurn}}})
		before := tb.close(closed.ID)
		last := api.DealRequest{Runs: []audit.Run{seat(2, "b"), board(3)},
			Close: &api.CloseRequest{Outcome: audit.OutcomeCompleted}}
		end := tb.deal(dealt.ID, last)
		if public := tb.close(everybody.ID); len(public.Tape) != 129 {
			t.Errorf("a public close has %d bytes of tape", len(public.Tape))
		}
		if before.Tape != nil || end.Close.Tape != nil {
			t.Error("a close for auditors answers with its tape")
		}
		for range 3 {
			if diff := cmp.Diff(before, tb.close(closed.ID), sameAnswer); diff != "" {
				t.Error("close:", diff)
			}
			if diff := cmp.Diff(end, tb.deal(dealt.ID, last), sameAnswer); diff != "" {
				t.Error("deal:", diff)
			}
		}
		tb.pass(time.Hour + time.Second)
		if n, err := tb.Expire(t.Context()); n != 1 || err != nil {
			t.Errorf("%d expired, %v", n, err)
		}
		if keys := keysIn(tb.entries()); !slices.Equal(keys, []int{2}) {
			t.Errorf("disclosure keys at %v", keys)
		}
		for i, a := range auditors {
			if tapes := tb.opened(a); len(tapes) != 3 || tapes[closed.ID] == nil || tapes[dealt.ID] == nil ||
				tapes[forgotten.ID] == nil {
				t.Errorf("auditor %d opens %d tapes", i, len(tapes))
			}
		}
		for view, cards := range map[api.View]int{{}: 3, {Identity: "tester"}: 5, {Auditor: true}: 6,
			{Identity: "tester", Recipient: "a"}: 5} {
			if tr := tb.transcript(closed.ID, view); len(tr.Cards) != cards {
				t.Errorf("%+v sees %d cards, want %d", view, len(tr.Cards), cards)
			}
		}
		b, err := tb.Transcript(t.Context(), closed.ID, api.View{})
		must(t, err)
		for _, s := range verify.Transcript(b, verify.Trust{VKey: tb.vkey}).Steps {
			if unchecked := s.Result == "not checked"; unchecked != slices.Contains([]string{"witnesses", "slots",
				"beacon", "terms", "asked", "tape", "order", "cards", "co_dealer", "statements"}, s.Name) {
				t.Errorf("step %s: %s", s.Name, s.Result)
			}
		}
		tb.checkDealt(auditors[0], dealt.ID, end)
	})
}

// checkDealt holds what was dealt against what an auditor computes.
func (tb *table) checkDealt(a *disclosure.Auditor, id uint64, d api.Deal) {
	tb.t.Helper()
	commit := tb.entries()[id].Body.(*audit.Commit)
	out, err := commit.Context.Recipe.Run(tb.opened(a)[id])
	must(tb.t, err)
	for i, c := range d.Cards {
		if c.Value != out.Values[i] {
			tb.t.Errorf("place %d shows %d, the tape says %d", i, c.Value, out.Values[i])
		}
	}
}

// TestNoAuditors: where nobody could open the tape there is no commit, and no tape is drawn for one.
func TestNoAuditors(t *testing.T) {
	t.Parallel()
	source, err := entropy.New(entropy.Config{})
	must(t, err)
	tb := newTableWith(t, setting{source: source, disclosure: audit.DisclosureAuditor})
	size, drawn := tb.Ledger().Live().Size, source.Stats()
	_, err = tb.Shuffle(t.Context(), as("tester"), "k", hand)
	wantRefusal(t, "no auditors", err, "", audit.RuleDisclosureKey)
	if tb.Ledger().Live().Size != size || source.Stats() != drawn {
		t.Error("something was written or drawn")
	}
	public := hand
	public.Disclosure = audit.DisclosurePublic
	tb.commit("k", public) // a refused request uses no key
}

// TestRotationByAge: a commit makes a new key when the newest is a day old, a
// close does not, and closes go to the newest.
func TestRotationByAge(t *testing.T) {
	onBoth(t, 1, func(t *testing.T, tb *table, auditors []*disclosure.Auditor) {
		long := func(key string) uint64 {
			by := api.Time(tb.now().Add(2*time.Hour - time.Minute).UnixMilli())
			req := hand
			req.CloseBy = &by
			return tb.commit(key, req).ID
		}
		want := func(when string, keys ...int) {
			t.Helper()
			if got := keysIn(tb.entries()); !slices.Equal(got, keys) {
				t.Errorf("%s: disclosure keys at %v, want %v", when, got, keys)
			}
		}
		first := long("1") // entry 3
		tb.pass(time.Hour)
		tb.close(first) // 4
		tb.pass(22*time.Hour + 59*time.Minute)
		second := long("2") // 5
		want("after 23 hours and 59 minutes", 2)
		tb.pass(time.Minute)
		tb.close(second) // 6
		want("a close after a day", 2)
		third := long("3") // 8, its key 7
		want("a commit after a day", 2, 7)
		tb.close(third)
		long("4")
		want("a commit soon after", 2, 7)
		entries := tb.entries()
		for i, key := range map[int]uint64{4: 2, 6: 2, 9: 7} {
			if c := entries[i].Body.(*audit.Close); c.Key != key {
				t.Errorf("close %d is sealed to the key of entry %d, want %d", i, c.Key, key)
			}
		}
		if n := len(tb.opened(auditors[0])); n != 3 {
			t.Errorf("%d tapes open", n)
		}
	})
}

// TestAuditorsChange: a new auditor reads what is closed from then on, one that
// left reads nothing more; a close makes the key that it needs as a commit does.
func TestAuditorsChange(t *testing.T) {
	t.Parallel()
	for _, postgres := range []bool{false, true} {
		all, publics := newAuditors(t, 2)
		tb := newTableWith(t, setting{postgres: postgres, auditors: publics[:1], disclosure: audit.DisclosureAuditor})
		a, b, c := tb.commit("a", hand).ID, tb.commit("b", hand).ID, tb.commit("c", hand).ID
		tb.close(a)
		tb.append(&audit.Key{Subject: audit.SubjectAuditor, Public: publics[1]})
		tb.close(b)
		tb.append(&audit.Key{Subject: audit.SubjectRetirement, Retired: audit.SubjectAuditor, ID: all[0].ID(), From: 1})
		d := tb.commit("d", hand).ID
		tb.close(c)
		// The house may retire a disclosure key; then it, too, needs another.
		entries := tb.entries()
		newest := entries[keysIn(entries)[2]].Body.(*audit.Key).Public
		tb.append(&audit.Key{Subject: audit.SubjectRetirement, Retired: audit.SubjectDisclosure,
			ID: audit.KeyID(newest), From: 1})
		tb.close(d)
		var wraps []int
		entries = tb.entries()
		for _, i := range keysIn(entries) {
			wraps = append(wraps, len(entries[i].Body.(*audit.Key).Wraps))
		}
		if !slices.Equal(wraps, []int{1, 2, 1, 1}) {
			t.Errorf("disclosure keys with %v wraps", wraps)
		}
		for i, want := range [][]uint64{{a, b}, {b, c, d}} {
			tapes := tb.opened(all[i])
			if len(tapes) != len(want) {
				t.Errorf("auditor %d opens %d tapes, want %d", i, len(tapes), len(want))
			}
			for _, id := range want {
				if tapes[id] == nil {
					t.Errorf("auditor %d cannot open the tape of %d", i, id)
				}
			}
		}
	}
}

// gateStore holds the first append until a number of requests has looked up its
// key, so that they all wait for the sequencer at once.
type gateStore struct {
	ledger.Store
	once  sync.Once
	begun chan struct{} // closed when the append is held
	asked sync.WaitGroup
}

func (s *gateStore) Append(ctx context.Context, id ledger.ID, old ledger.Head, b ledger.Batch) error {
	s.once.Do(func() {
		close(s.begun)
		s.asked.Wait()
	})
	return s.Store.Append(ctx, id, old, b)
}

func (s *gateStore) ByKeyTags(ctx context.Context, id ledger.ID, tags ...[32]byte) ([]ledger.Row, error) {
	defer s.asked.Add(-len(tags))
	return s.Store.ByKeyTags(ctx, id, tags...)
}

// TestCopiesForAuditors: of many copies one close counts, though each was sealed
// to bytes of its own; and one daemon makes one key for all that wait for it.
func TestCopiesForAuditors(t *testing.T) {
	onBoth(t, 1, func(t *testing.T, tb *table, auditors []*disclosure.Auditor) {
		ids := make([]uint64, 40)
		gate := &gateStore{Store: tb.open.Store, begun: make(chan struct{})}
		gate.once.Do(func() {}) // not for its instance_start
		tb = tb.rival(gate)
		gate.once = sync.Once{}
		gate.asked.Add(len(ids))
		var wg sync.WaitGroup
		wg.Go(func() { tb.append(&audit.Event{Kind: audit.EventTableOpen, Name: "held"}) })
		<-gate.begun
		for i := range ids {
			wg.Go(func() {
				s, err := tb.Shuffle(context.Background(), as("tester"), fmt.Sprint("k", i),
					api.ShuffleRequest{Table: fmt.Sprint("t", i), Deck: "standard-52"})
				if err != nil {
					t.Error(err)
				}
				ids[i] = s.ID
			})
		}
		wg.Wait()
		answers := make([]api.Close, 40)
		for i := range answers {
			wg.Go(func() {
				var err error
				if answers[i], err = tb.Close(context.Background(), as("tester"), ids[0],
					api.CloseRequest{Outcome: audit.OutcomeEndedEarly}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		for i := range answers {
			if diff := cmp.Diff(answers[0], answers[i], sameAnswer); diff != "" {
				t.Fatal("copies get different answers:", diff)
			}
		}
		if keys := keysIn(tb.entries()); len(keys) != 1 {
			t.Errorf("%d disclosure keys", len(keys))
		}
		if n := len(tb.opened(auditors[0])); n != 1 {
			t.Errorf("%d tapes open", n)
		}
	})
}

// TestTwoDaemons: a daemon that knows an older key than the ledger has still gets its
// close in, and two that rotate at once do no harm.
func TestTwoDaemons(t *testing.T) {
	onBoth(t, 2, func(t *testing.T, a *table, auditors []*disclosure.Auditor) {
		b := a.rival(a.open.Store)
		first := a.commit("1", hand).ID
		b.close(a.commit("2", hand).ID) // b knows the key
		other, err := disclosure.Body(origin, [][]byte{auditors[0].Public(), auditors[1].Public()})
		must(t, err)
		a.append(other)
		b.close(first) // b learns that it was behind
		entries := a.entries()
		if keys := keysIn(entries); entries[len(entries)-1].Body.(*audit.Close).Key != uint64(keys[len(keys)-1]) {
			t.Error("the close is not sealed to the newest key")
		}
		for round := range 5 {
			before := len(keysIn(a.entries()))
			a.pass(25 * time.Hour)
			var wg sync.WaitGroup
			for i, tb := range []*table{a, b, a, b, a, b, a, b} {
				wg.Go(func() {
					ctx, name := context.Background(), fmt.Sprintf("%d-%d", round, i)
					s, err := tb.Shuffle(ctx, as("tester"), name,
						api.ShuffleRequest{Table: name, Deck: "standard-52"})
					if err == nil {
						_, err = tb.Close(ctx, as("tester"), s.ID, api.CloseRequest{Outcome: audit.OutcomeEndedEarly})
					}
					if err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			if made := len(keysIn(a.entries())) - before; made < 1 || made > 2 {
				t.Errorf("two daemons made %d keys", made)
			}
		}
		for i, auditor := range auditors {
			if n := len(a.opened(auditor)); n != 2+5*8 {
				t.Errorf("auditor %d opens %d tapes", i, n)
			}
		}
	})
}

// TestBehind: a daemon that has not seen another auditor makes no key without
// that auditor, and its request is still served.
func TestBehind(t *testing.T) {
	onBoth(t, 1, func(t *testing.T, a *table, auditors []*disclosure.Auditor) {
		a.open.Probe = time.Hour // so that no probe tells
		b := a.rival(a.open.Store)
		all, publics := newAuditors(t, 3)
		a.append(&audit.Key{Subject: audit.SubjectAuditor, Public: publics[1]})
		first := b.commit("1", hand).ID
		a.append(&audit.Key{Subject: audit.SubjectAuditor, Public: publics[2]})
		second := b.commit("2", hand).ID
		b.close(first)
		b.close(second)
		if keys := keysIn(a.entries()); len(keys) != 2 {
			t.Errorf("disclosure keys at %v", keys)
		}
		for i, auditor := range all {
			if n := len(a.opened(auditor)); n != 2 {
				t.Errorf("auditor %d opens %d tapes", i, n)
			}
		}
	})
}

// TestFastClock: a daemon whose own clock runs ahead of the ledger's makes a key for each commit, and no more.
func TestFastClock(t *testing.T) {
	t.Parallel()
	_, publics := newAuditors(t, 1)
	tb := newTableWith(t, setting{auditors: publics, disclosure: audit.DisclosureAuditor})
	cfg := tb.cfg
	cfg.Now = func() int64 { return tb.now().Add(72 * time.Hour).UnixMilli() }
	tb.Dealer = dealer.New(cfg)
	for i := range 3 {
		tb.close(tb.commit(fmt.Sprint(i), hand).ID)
		if keys := keysIn(tb.entries()); len(keys) != i+1 {
			t.Errorf("%d disclosure keys after %d commits", len(keys), i+1)
		}
	}
}

// cutStore loses its database when a close is to be written.
type cutStore struct {
	ledger.Store
	cut atomic.Int64
}

var errCut = errors.New("connection refused")

func (s *cutStore) Append(ctx context.Context, id ledger.ID, old ledger.Head, b ledger.Batch) error {
	for _, row := range b.Rows {
		if e, err := audit.ParseEntry(row.Entry); err == nil && e.Body.Type() == audit.TypeClose {
			s.cut.Add(1)
			return errCut
		}
	}
	return s.Store.Append(ctx, id, old, b)
}

// TestKilledBetween: a daemon that ends between its key entry and the close that needed it leaves a key that the next
// daemon uses, though nobody in the house has its private half.
func TestKilledBetween(t *testing.T) {
	onBoth(t, 1, func(t *testing.T, tb *table, auditors []*disclosure.Auditor) {
		id := tb.commit("1", hand).ID
		_, more := newAuditors(t, 2)
		tb.append(&audit.Key{Subject: audit.SubjectAuditor, Public: more[1]})
		store := &cutStore{Store: tb.open.Store}
		dying := tb.rival(store)
		if _, err := dying.Close(t.Context(), as("tester"), id,
			api.CloseRequest{Outcome: audit.OutcomeEndedEarly}); err == nil || store.cut.Load() == 0 {
			t.Fatalf("void: the close was not cut off (%v)", err)
		}
		keys := keysIn(tb.entries())
		if len(keys) != 2 {
			t.Fatalf("void: disclosure keys at %v", keys)
		}
		next := tb.rival(tb.open.Store)
		next.close(id)
		entries := next.entries()
		if got := keysIn(entries); !slices.Equal(got, keys) {
			t.Errorf("disclosure keys at %v, want %v", got, keys)
		}
		if c := entries[len(entries)-1].Body.(*audit.Close); c.Key != uint64(keys[1]) {
			t.Errorf("the close is sealed to the key of entry %d", c.Key)
		}
		if next.opened(auditors[0])[id] == nil {
			t.Error("the tape does not open")
		}
	})
}
