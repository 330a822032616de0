package golden

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/beacon/beacontest"
	"shuffled/internal/dealer"
	"shuffled/internal/dealer/api"
	"shuffled/internal/dealer/batch"
	"shuffled/internal/entropy"
	"shuffled/internal/keys"
	"shuffled/internal/seal"
	"shuffled/internal/terms"
)

// The dealers: cards commits and deals, second is another credential of the same identity, and rescue
// takes shuffles over.
var (
	cards  = audit.Actor{Identity: "cards", Credential: "cards-1"}
	second = audit.Actor{Identity: "cards", Credential: "cards-2"}
	rescue = audit.Actor{Identity: "rescue", Credential: "rescue-1"}
)

func seat(count int, to string) audit.Run {
	return audit.Run{Count: count, Purpose: audit.PurposeSeat, Recipient: to}
}

func board(count int) audit.Run {
	return audit.Run{Count: count, Purpose: audit.PurposeBoard, Public: true}
}

func aside(purpose audit.Purpose) audit.Run { return audit.Run{Count: 1, Purpose: purpose} }

var (
	burn      = aside(audit.PurposeBurn)
	completed = api.CloseRequest{Outcome: audit.OutcomeCompleted}
	early     = api.CloseRequest{Outcome: audit.OutcomeEndedEarly}
)

func void(reason audit.Reason) api.CloseRequest {
	return api.CloseRequest{Outcome: audit.OutcomeVoid, Reason: reason}
}

// deck returns a request for a shuffle of 52 cards.
func deck(table string) api.ShuffleRequest {
	return api.ShuffleRequest{Table: table, Deck: "standard-52"}
}

// commit commits to a shuffle under a new idempotency key.
func (d *daemon) commit(req api.ShuffleRequest) uint64 {
	d.t.Helper()
	s, err := d.Shuffle(d.ctx(), cards, fmt.Sprint("key-", d.ledger.Head().Size), req)
	return did(d, s, err).ID
}

func (d *daemon) draw(req api.DrawsRequest) uint64 {
	d.t.Helper()
	s, err := d.Draws(d.ctx(), cards, fmt.Sprint("key-", d.ledger.Head().Size), req)
	return did(d, s, err).ID
}

// deal deals the next places of a shuffle.
func (d *daemon) deal(id uint64, runs ...audit.Run) api.Deal {
	d.t.Helper()
	status, err := d.Status(d.t.Context(), id)
	must(d.t, err)
	dealt, err := d.Deal(d.ctx(), cards, id, api.DealRequest{First: status.Next, Runs: runs})
	return did(d, dealt, err)
}

func (d *daemon) end(id uint64, req api.CloseRequest) {
	d.t.Helper()
	c, err := d.Close(d.ctx(), cards, id, req)
	did(d, c, err)
}

func (d *daemon) reveal(id uint64, exposed bool, places ...int) {
	d.t.Helper()
	r, err := d.Reveal(d.t.Context(), cards, id, api.RevealRequest{Places: places, Exposed: exposed})
	did(d, r, err)
}

func (d *daemon) mix(id uint64, req api.MixRequest) {
	d.t.Helper()
	m, err := d.Mix(d.t.Context(), cards, id, req)
	did(d, m, err)
}

// hand plays a hand of hold'em to the showdown. The cards of the player who folds stay unseen.
func (d *daemon) hand(table string, change ...func(*api.ShuffleRequest)) uint64 {
	d.t.Helper()
	req := deck(table)
	for _, f := range change {
		f(&req)
	}
	id := d.commit(req)
	d.deal(id, seat(2, "seat-1"), seat(2, "seat-2"), seat(2, "seat-3"))
	d.deal(id, burn, board(3))
	d.reveal(id, true, 4)
	d.deal(id, burn, board(1))
	d.deal(id, aside(audit.PurposeDiscard), board(1))
	shown := early
	shown.Reveal = []int{0, 1, 2, 3}
	d.end(id, shown)
	return id
}

// auditors makes a request ask for disclosure to auditors.
func auditors(r *api.ShuffleRequest) { r.Disclosure = audit.DisclosureAuditor }

// games plays shuffles and draws of all kinds, without a mix.
func (s *story) games(d *daemon) {
	s.file(d, d.hand("poker"), "hand", "a hand of hold'em: an exposed card, a showdown, a fold that stays unseen",
		api.View{}, api.View{Identity: cards.Identity, Recipient: "seat-3"})
	s.file(d, d.hand("poker", auditors), "hand-auditors", "the same, disclosed to auditors", api.View{},
		api.View{Identity: cards.Identity, Recipient: "seat-1"}, api.View{Auditor: true})

	shoe := d.commit(api.ShuffleRequest{Table: "baccarat", Deck: "shoe-8", EndAt: &api.EndAt{Lo: 390, Hi: 402},
		GameRef: "round-1"})
	for i, cards := range []int{4, 6} {
		coup := board(cards)
		coup.Round = uint16(i) + 1
		d.deal(shoe, coup)
	}
	d.end(shoe, early)
	s.file(d, shoe, "shoe", "a shoe of eight decks with a cut card", api.View{})

	take := 4
	few := d.commit(api.ShuffleRequest{Table: "names", Cards: []string{"Éclair", "雀", `a "b" \`, "two words", "x"},
		Take: &take, EndAt: &api.EndAt{Lo: 3, Hi: 3}})
	d.deal(few, seat(1, "seat-1"), aside(audit.PurposeRabbit))
	d.deal(few, audit.Run{Count: 2, Purpose: audit.PurposeOrder})
	d.end(few, completed)
	s.file(d, few, "names", "four of five names, the rest handed over as an order", api.View{})

	dice := d.draw(api.DrawsRequest{Table: "dice", Ranges: []uint32{6, 6, 37, 1, 1 << 30}})
	d.deal(dice, board(5))
	d.end(dice, completed)
	s.file(d, dice, "draws", "a draw list", api.View{})

	keno := d.draw(api.DrawsRequest{Table: "keno", Numbers: &api.Numbers{Of: 80, Take: 20}})
	d.deal(keno, board(20))
	d.end(keno, completed)
	s.file(d, keno, "numbers", "20 of 80 numbers", api.View{})

	wheel, err := terms.NewWheel([]terms.Label{{Label: "nothing", Weight: 36}, {Label: "a car", Weight: 1}})
	must(s.t, err)
	must(s.t, d.PutTerms(s.t.Context(), wheel))
	spin := d.draw(api.DrawsRequest{Table: "wheel", Ranges: []uint32{37, 37},
		Terms: &audit.Terms{Kind: audit.TermsWheel, Hash: wheel.Hash()}})
	d.deal(spin, board(2))
	d.end(spin, completed)
	s.file(d, spin, "wheel", "two spins of a wheel, whose labels are terms", api.View{})

	pay, err := terms.NewPayTable("four of a kind: 25\nfull house: 9\n")
	must(s.t, err)
	must(s.t, d.PutTerms(s.t.Context(), pay))
	bound := deck("video-poker")
	bound.Terms = &audit.Terms{Kind: audit.TermsPayTable, Hash: pay.Hash()}
	video := d.commit(bound)
	d.deal(video, seat(5, "seat-1"))
	d.end(video, early)
	s.file(d, video, "pay-table", "cards with a pay table", api.View{})
}

// chain deals from a deck, and twice shuffles the undealt cards again as a child.
func (s *story) chain(d *daemon, change ...func(*api.ShuffleRequest)) []uint64 {
	req := deck("reshuffled")
	for _, f := range change {
		f(&req)
	}
	ids := []uint64{d.commit(req)}
	for range 2 {
		d.deal(ids[len(ids)-1], burn, seat(2, "seat-1"), board(3))
		child := api.ShuffleRequest{Table: "reshuffled", Parent: &api.Parent{ID: ids[len(ids)-1]},
			Disclosure: req.Disclosure}
		ids = append(ids, d.commit(child))
	}
	d.deal(ids[2], board(2))
	d.end(ids[2], early)
	return ids
}

// mixes plays shuffles with a mix from each kind of source, and a draw from a list of tickets.
func (s *story) mixes(d *daemon) {
	round := beacontest.Newest()
	slots := [][32]byte{[32]byte(keys.NewSlot().Bytes()), [32]byte(keys.NewSlot().Bytes())}
	var hashes [][32]byte
	for _, v := range slots {
		hashes = append(hashes, audit.SlotHash(d.origin, "mixed", v))
	}
	at := func(table string, plan api.MixPlan) api.ShuffleRequest {
		req := deck(table)
		req.Plan = &plan
		return req
	}
	light := d.commit(at("beacon", api.MixPlan{Beacon: &api.BeaconPlan{Round: new(round.Round)}}))
	lines := strings.NewReader(ticketLines)
	list, proofs, err := terms.Walk(lines, keys.NewTicketSecret().Bytes(),
		terms.Wanted{Numbers: []uint64{1, 500, 1000}})
	must(s.t, err)
	for _, p := range proofs {
		s.tickets = append(s.tickets, ticket{fmt.Sprint("ticket ", p.Number), p.Text(), "ok"})
	}
	raffle := d.draw(api.DrawsRequest{Table: "raffle", Numbers: &api.Numbers{Of: int(list.Count), Take: 3},
		Terms: &audit.Terms{Kind: audit.TermsTicketList, Count: list.Count, Hash: list.Root},
		Plan:  &api.MixPlan{Beacon: &api.BeaconPlan{Round: new(round.Round)}}})
	given := d.commit(at("mixed", api.MixPlan{Slots: hashes}))
	d.mix(given, api.MixRequest{Slots: slots})
	d.deal(given, seat(2, "seat-1"), board(3))
	d.end(given, early)
	s.slots(d, given, "slots", "mixed by the values of two players", slots)
	place := 17
	cut := d.commit(at("cut", api.MixPlan{Beacon: &api.BeaconPlan{Round: new(round.Round)}, Cut: true}))
	due, _ := audit.BeaconTime(audit.Quicknet, round.Round)
	d.clock.ms.Store(max(d.clock.ms.Load(), due*1000+1000))
	d.mix(light, api.MixRequest{Beacon: &round.Signature})
	d.deal(light, seat(2, "seat-1"), board(3))
	d.end(light, early)
	d.mix(cut, api.MixRequest{Beacon: &round.Signature, Cut: &place})
	d.deal(cut, board(3))
	d.end(cut, early)
	d.mix(raffle, api.MixRequest{Beacon: &round.Signature})
	d.deal(raffle, board(3))
	d.end(raffle, completed)
	s.file(d, light, "beacon", "mixed by a round of quicknet", api.View{})
	s.file(d, raffle, "tickets", "three winners of a list of tickets, mixed by a round of quicknet", api.View{})
	s.file(d, cut, "cut", "mixed by a round of quicknet and a cut, which the house chooses last", api.View{})
}

var ticketLines = func() string {
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, "ticket-%04d\n", i+1)
	}
	return b.String()
}()

// owners plays takeovers, a batch, and what a house writes when a game fails.
func (s *story) owners(d *daemon) {
	ctx := s.t.Context()
	taken := d.commit(deck("taken"))
	d.deal(taken, seat(2, "seat-1"))
	t, err := d.Takeover(ctx, rescue, taken,
		api.TakeoverRequest{Reason: "the dealer is gone"})
	did(d, t, err)
	c, err := d.Close(ctx, rescue, taken, void(audit.ReasonSystemFault))
	did(d, c, err)
	s.file(d, taken, "takeover", "taken over and voided", api.View{})
	if len(d.admins) > 0 {
		played := d.commit(deck("taken"))
		d.deal(played, seat(2, "seat-1"))
		d.approved(rescue, &audit.Takeover{Shuffle: played, Extent: audit.ExtentPlay, Reason: "the dealer is ill"},
			"alice", "bob")
		dealt, err := d.Deal(ctx, rescue, played,
			api.DealRequest{First: 2, Runs: []audit.Run{board(3)}, Close: &early})
		did(d, dealt, err)
		s.file(d, played, "takeover-play", "taken over by two persons, and played on", api.View{})
	}

	draws := api.DrawsRequest{Table: "batch-2", Ranges: []uint32{6, 6}}
	one := deck("batch-1")
	results, err := batch.Run(ctx, d.Dealer, second, []batch.Operation{
		{Table: one.Table, Key: "batch-1", Of: -1, Cards: &one},
		{Table: draws.Table, Key: "batch-2", Of: -1, Draws: &draws},
	}, true, func(uint64) (context.Context, error) { return ctx, nil })
	for _, r := range did(d, results, err) {
		must(s.t, r.Err)
		id := r.Answer.(api.Shuffle).ID
		dealt, err := d.Deal(ctx, second, id, api.DealRequest{Runs: []audit.Run{board(2)}, Close: &early})
		did(d, dealt, err)
		s.file(d, id, r.Answer.(api.Shuffle).Table, "committed in a batch, by a second credential", api.View{})
	}

	for _, reason := range []audit.Reason{audit.ReasonMisdeal, audit.ReasonPlayerDispute} {
		id := d.commit(deck("void"))
		d.deal(id, seat(2, "seat-1"))
		d.end(id, void(reason))
		s.file(d, id, "void-"+reason.String(), "void", api.View{})
	}
	past := d.commit(deck("late"))
	d.deal(past, seat(2, "seat-1"))
	d.clock.move(2 * time.Hour)
	closed, err := d.Expire(ctx)
	if did(d, closed, err) != 1 {
		s.t.Fatalf("%d expired", closed)
	}
	s.file(d, past, "expired", "its close-by passed", api.View{})
}

// lost writes a shuffle whose tape nobody can open: every audit finds a fault.
func (s *story) lost(d *daemon) {
	id := d.commit(deck("lost"))
	cfg := d.cfg
	key, err := seal.NewKey(keys.GenerateSealing().Bytes())
	must(s.t, err)
	cfg.Keys, err = seal.NewKeyring(key)
	must(s.t, err)
	c, err := dealer.New(cfg).Close(s.t.Context(), operator, id, void(audit.ReasonTapeLost))
	did(d, c, err)
	s.file(d, id, "tape-lost", "its tape is lost, which fails", api.View{})
}

// administer writes switches, tables, a latch and credentials.
func (s *story) administer(d *daemon) {
	ctx := s.t.Context()
	never := d.commit(deck("poker"))
	for _, open := range []bool{false, true} {
		r, err := d.SetTable(ctx, operator, "poker", open)
		did(d, r, err)
	}
	s.file(d, d.hand("poker"), "set-aside", "dealt although an older shuffle of the table was not: it was set aside",
		api.View{})
	d.end(never, early)
	s.file(d, never, "not-dealt", "set aside and closed without a deal, which counts as void", api.View{})
	r, err := d.SetSwitch(ctx, operator, api.SwitchRequest{Scope: audit.ScopeTable, Table: "dice",
		Reason: "a dispute"})
	did(d, r, err)
	clear := &audit.Event{Kind: audit.EventKillClear, Scope: audit.ScopeTable, Name: "dice", Reason: "settled"}
	if len(d.admins) > 0 {
		// Three ways to clear a kill switch: the act of one administrator, which another one cancels; the act of one,
		// which counts after the delay; and the act of two, which counts at once.
		for _, cancelled := range []bool{true, false} {
			a := d.act(operator.Identity, clear, "alice")
			r, err = d.SubmitAct(ctx, operator, a, nil)
			did(d, r, err)
			if cancelled {
				cancel := *d.act(operator.Identity, clear)
				cancel.Act, cancel.Digest = audit.ActCancel, a.Digest
				d.sign(&cancel, "bob")
				r, err = d.SubmitAct(ctx, operator, &cancel, nil)
				did(d, r, err)
			}
		}
		d.clock.move(time.Hour)
		d.append(operator, clear)
		r, err = d.SetSwitch(ctx, operator, api.SwitchRequest{Scope: audit.ScopeTable, Table: "dice",
			Reason: "another dispute"})
		did(d, r, err)
		d.approved(operator, clear, "alice", "bob")
	} else {
		d.append(operator, clear)
	}
	d.cfg.Entropy.Trip(entropy.ReasonOperator)
	r, err = d.ClearLatch(ctx, operator, "a drill", nil)
	did(d, r, err)
	d.append(audit.Operator, &audit.Credential{Kind: audit.CredentialRevoked, ID: rescue.Credential, Reason: "left"})
}

// persons adds an auditor and a third administrator, and changes the list of acts.
func (s *story) persons(d *daemon) {
	carol, err := keys.GenerateSigning("carol")
	must(s.t, err)
	for _, k := range []*audit.Key{
		{Subject: audit.SubjectAuditor, Public: auditorOf(s.t, d.origin+"/second").Public()},
		{Subject: audit.SubjectAdministrator, Admin: audit.ChangeAdd, Name: "carol", Public: carol.Public()},
		{Subject: audit.SubjectTwoPersons, Acts: slices.Insert(slices.Clone(d.ledger.Genesis().TwoPersons), 2,
			audit.ActRetirement), Delay: 7200},
	} {
		s.enter(d, k)
	}
}

// enter writes a key entry.
func (s *story) enter(d *daemon, k *audit.Key) {
	s.t.Helper()
	if len(d.admins) > 0 {
		d.approved(operator, k, "alice", "bob")
		return
	}
	a, err := d.ledger.AddKey(s.t.Context(), operator, k, nil)
	did(d, a, err)
}

// rotate enters a key of ML-DSA-44, a new key of Ed25519 and a new witness policy, and retires the
// first key. It keeps the file of a hand that is played afterwards.
func (s *story) rotate(d *daemon, witnesses ...string) {
	s.enter(d, &audit.Key{Subject: audit.SubjectSigning, Public: d.long.Public()})
	s.enter(d, &audit.Key{Subject: audit.SubjectSigning, Public: d.signers[1].Public()})
	d.logs = []string{d.signers[1].VKey(), d.long.VKey()}
	if len(witnesses) > 0 {
		d.outside = s.policy(witnesses...)
		s.enter(d, &audit.Key{Subject: audit.SubjectPolicy, Policy: []byte(d.outside)})
	}
	s.enter(d, &audit.Key{Subject: audit.SubjectRetirement, Retired: audit.SubjectSigning,
		ID: audit.KeyID(d.signers[0].Public()), From: d.clock.now().UnixMilli()})
	id := d.hand("rotated")
	s.file(d, id, "rotated", "under rotated keys, one of ML-DSA-44", api.View{})
}
