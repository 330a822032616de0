package client

import (
	"crypto/rand"
	"fmt"
	"testing"

	fnote "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/shuffle"
)

// rigged is what a house committed to, honest or not.
type rigged struct {
	*house
	commit *audit.Commit
	tape   []byte
	tree   *openings.DeckTree
}

// rig commits to the values that the tape gives, changed by cheat.
func (h *house) rig(c audit.Context, cheat func(values []uint32)) *rigged {
	h.t.Helper()
	c.Origin, c.Table = h.signer.Name(), "t"
	if c.Disclosure == 0 {
		c.Disclosure = audit.DisclosurePublic
	}
	tape := make([]byte, c.Recipe.TapeLen())
	rand.Read(tape)
	out, err := c.Recipe.Run(tape)
	must(h.t, err)
	if cheat != nil {
		cheat(out.Values)
	}
	commitment := openings.Commitment(c.Encode(), tape)
	tree := openings.NewDeckTree(openings.LeafTag(commitment, c.Encode()), out.Values, openings.Salts(commitment, tape,
		len(out.Values)))
	return &rigged{h, &audit.Commit{Context: &c, Commitment: commitment, DeckRoot: tree.Root(), Serial: 1,
		CloseBy: 5000}, tape, tree}
}

// committed is the shuffle as a client has it after the commit.
func (r *rigged) committed() *Committed {
	r.t.Helper()
	b, err := audit.Entry{Time: 1000, Actor: as(hostileIdentity), Body: r.commit}.Encode()
	must(r.t, err)
	s := &Committed{Shuffle: Shuffle{ID: 0, Table: "t", Serial: 1, Commitment: r.commit.Commitment,
		DeckRoot: Hash(r.commit.DeckRoot)}, Terms: termsOf(r.commit, 1000),
		commit: r.commit, entry: proved{Entry: audit.Entry{Time: 1000}, leaf: tlog.RecordHash(b)}}
	s.play = newPlay(s)
	s.with(func(p *play) { p.bound.Names = fiveNames })
	return s
}

// fiveNames are the cards of every rigged deck.
var fiveNames, _ = shuffle.NewDeck([]string{"a", "b", "c", "d", "e"})

// cardAt is what an answer opens at a place.
func cardAt(c *audit.Context, tree *openings.DeckTree, place, position int) Card {
	o := tree.Open(position)
	card := Card{Place: place, Position: position, Value: o.Value, Salt: o.Salt}
	if !c.IsDraw() && int(o.Value) < fiveNames.Len() {
		card.Card = new(fiveNames.Card(o.Value))
	}
	for _, h := range o.Proof {
		card.Proof = append(card.Proof, Hash(h))
	}
	return card
}

// deal answers a deal from first with these positions.
func (r *rigged) deal(first int, positions ...int) (DealRequest, Deal) {
	r.t.Helper()
	req := DealRequest{First: first, Runs: []Run{{Count: len(positions), Purpose: PurposeSeat}}}
	entry := &audit.Deal{First: first, Runs: []audit.Run{{Count: len(positions), Purpose: audit.PurposeSeat}}}
	d := Deal{Time: timestamp(r.at), Next: first + len(positions), Receipt: r.receipts(r.commit, entry)[1]}
	for i, p := range positions {
		d.Cards = append(d.Cards, cardAt(r.commit.Context, r.tree, first+i, p))
	}
	return req, d
}

func (r *rigged) dealt(s *Committed, change func(*Deal), first int, positions ...int) error {
	r.t.Helper()
	req, d := r.deal(first, positions...)
	if change != nil {
		change(&d)
	}
	_, err := r.client().proveDeal(r.t.Context(), s, &req, &d, reply{})
	return err
}

func (r *rigged) closed(s *Committed) error {
	r.t.Helper()
	body := &audit.Close{Outcome: audit.OutcomeCompleted, Form: audit.FormTape, Tape: r.tape}
	answer := Close{Time: timestamp(r.at), Tape: r.tape, Receipt: r.receipts(r.commit, body)[1]}
	return r.client().proveClose(r.t.Context(), s, &CloseRequest{Outcome: OutcomeCompleted}, &answer, anyIndex, reply{})
}

// final is a deal with its close, and what stands between them in the ledger.
func (r *rigged) final(between ...audit.Body) error {
	r.t.Helper()
	req, d := r.deal(0, 0)
	req.Close = &CloseRequest{Outcome: OutcomeCompleted}
	bodies := []audit.Body{r.commit, &audit.Deal{Final: true,
		Runs: []audit.Run{{Count: 1, Purpose: audit.PurposeSeat}}}}
	bodies = append(bodies, between...)
	bodies = append(bodies, &audit.Close{Outcome: audit.OutcomeCompleted, Form: audit.FormTape, Tape: r.tape})
	receipts := r.receipts(bodies...)
	d.Receipt = receipts[1]
	d.Close = &Close{Time: timestamp(r.at), Tape: r.tape, Receipt: receipts[len(receipts)-1]}
	_, err := r.client().proveDeal(r.t.Context(), r.committed(), &req, &d, reply{})
	return err
}

var fiveCards = audit.Context{Recipe: shuffle.Recipe{Cards: 5, Take: 5}}

// TestFoulDeck: a house that commits to what no deck has is caught as soon as it shows, and otherwise by the tape.
func TestFoulDeck(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	honest := h.rig(fiveCards, nil)
	s := honest.committed()
	expect(t, "an honest deal", honest.dealt(s, nil, 0, 0, 1), false)
	expect(t, "the same again", honest.dealt(s, nil, 0, 0, 1), false)
	expect(t, "the next", honest.dealt(s, nil, 2, 2, 3), false)
	expect(t, "its end", honest.closed(s), false)

	numbers := func(d *Deal) { d.Shows = []uint32{1} }
	expect(t, "cards that show numbers", honest.dealt(honest.committed(), numbers, 0, 0), true)
	s = honest.committed()
	s.entry.Time = h.at + 1
	expect(t, "a deal before the commit", honest.dealt(s, nil, 0, 0), true)
	s = honest.committed()
	expired := *honest.commit
	expired.CloseBy = h.at
	s.commit = &expired
	expect(t, "a deal at close-by", honest.dealt(s, nil, 0, 0), true)
	s = honest.committed()
	s.ID = 1
	expect(t, "a deal in the commit's place", honest.dealt(s, nil, 0, 0), true)
	expect(t, "a final deal and its close", honest.final(), false)
	expect(t, "and something between", honest.final(honest.commit), true)

	twice := h.rig(fiveCards, func(v []uint32) { v[3] = v[0] })
	expect(t, "a card twice in one deal", twice.dealt(twice.committed(), nil, 0, 0, 1, 2, 3), true)
	s = twice.committed()
	expect(t, "a card once", twice.dealt(s, nil, 0, 0, 1), false)
	expect(t, "and in another deal", twice.dealt(s, nil, 2, 2, 3), true)
	expect(t, "a foul deck's tape", twice.closed(twice.committed()), true)

	secret := fiveCards
	secret.Disclosure = audit.DisclosureAuditor
	told := h.rig(secret, nil)
	expect(t, "a tape that was for auditors", told.closed(told.committed()), true)
	foreign := h.rig(fiveCards, func(v []uint32) { v[0] = 5 })
	expect(t, "a card that the deck has not", foreign.dealt(foreign.committed(), nil, 0, 0), true)
	swapped := h.rig(fiveCards, func(v []uint32) { v[0], v[1] = v[1], v[0] })
	s = swapped.committed()
	expect(t, "another order than the tape's", swapped.dealt(s, nil, 0, 0, 1), false)
	expect(t, "which the tape shows", swapped.closed(s), true)
	four := h.rig(audit.Context{Recipe: shuffle.Recipe{Cards: 4, Take: 4}, DeckHash: fiveNames.Hash()}, nil)
	c := h.client()
	c.decks.put(fiveNames.Hash(), fiveNames, maxDecks)
	expect(t, "four cards of a deck of five", c.learnNames(t.Context(), four.committed()), true)
	draws := h.rig(audit.Context{Recipe: shuffle.Recipe{Ranges: []uint32{6, 6}}}, func(v []uint32) { v[0] = 7 })
	expect(t, "seven of six", draws.dealt(draws.committed(), func(d *Deal) { d.Shows = []uint32{7} }, 0, 0), true)
}

// TestHostileMix: places show what the public permutation says, and draws what it moves them to.
func TestHostileMix(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	slot := NewSlot(h.signer.Name(), "t")
	plan := []audit.Planned{{Source: audit.SourceSlot, Slot: slot.Hash}, {Source: audit.SourceCut}}
	five := fiveCards
	five.Plan = plan
	r := h.rig(five, nil)
	of := uint64(0)
	mixed := func(s *Committed, values []audit.MixValue, req MixRequest) error {
		receipt := h.receipts(r.commit, &audit.Mix{Shuffle: of, Values: values})[1]
		_, err := h.client().proveMix(t.Context(), s, &req, &Mix{Time: timestamp(h.at), Receipt: receipt}, reply{})
		return err
	}
	given := []audit.MixValue{{Source: audit.SourceSlot, Slot: slot.Value}, {Source: audit.SourceCut, Cut: 2}}
	cut := 2
	req := MixRequest{Slots: []Hash{slot.Value}, Cut: &cut}
	s := r.committed()
	expect(t, "a card before the mix", r.dealt(s, nil, 0, 0), true)
	expect(t, "an honest mix", mixed(s, given, req), false)
	for what, values := range map[string][]audit.MixValue{
		"another slot": {{Source: audit.SourceSlot, Slot: Hash{1}}, given[1]},
		"another cut":  {given[0], {Source: audit.SourceCut, Cut: 3}},
		"no cut":       {given[0]},
		"a slot more":  {given[0], given[0], given[1]},
	} {
		expect(t, what, mixed(r.committed(), values, req), true)
	}
	far := req
	far.Cut = new(1<<16 + cut)
	expect(t, "a cut of 17 bits", mixed(r.committed(), given, far), true)
	of = 9
	expect(t, "another shuffle's mix", mixed(r.committed(), given, req), true)
	of = 0
	missing := req
	missing.Cut = nil
	expect(t, "a plan half answered", mixed(r.committed(), given[:1], missing), true)

	places := []int{s.play.bound.Order.Position(0), s.play.bound.Order.Position(1)}
	expect(t, "what the mix shows", r.dealt(s, nil, 0, places...), false)
	expect(t, "the other way round", r.dealt(s, nil, 0, places[1], places[0]), true)
	for p := range 5 {
		if p != places[0] {
			expect(t, "another position", r.dealt(s, nil, 0, p), true)
		}
	}

	draws := h.rig(audit.Context{Recipe: shuffle.Recipe{Ranges: []uint32{1 << 30, 1 << 30}}, Plan: plan[:1]}, nil)
	s = draws.committed()
	r = draws
	expect(t, "an honest mix of draws", mixed(s, given[:1], missing), false)
	order, err := openings.NewOrder(s.entry.leaf, draws.commit, &audit.Mix{Values: given[:1]})
	must(t, err)
	shows, err := order.Shows([]uint32{draws.tree.Open(0).Value, draws.tree.Open(1).Value})
	must(t, err)
	expect(t, "what the draws show", draws.dealt(s, func(d *Deal) { d.Shows = shows }, 0, 0, 1), false)
	committed := draws.tree.Open(0).Value
	expect(t, "the committed value", draws.dealt(s, func(d *Deal) { d.Shows = []uint32{committed} }, 0, 0), true)
	expect(t, "nothing", draws.dealt(s, nil, 0, 0), true)
}

// TestHostileCutCard: the cut card is told when it comes out, as the tape shows.
func TestHostileCutCard(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	drawn := audit.Context{Recipe: shuffle.Recipe{Cards: 5, Take: 5, EndLo: 2, EndHi: 4}}
	var r *rigged
	var out shuffle.Outcome
	for out.EndAt != 3 { // so that it can be told too early and too late
		r = h.rig(drawn, nil)
		var err error
		if out, err = r.commit.Context.Recipe.Run(r.tape); err != nil {
			t.Fatal(err)
		}
	}
	tell := func(s *Committed, next int, last bool) error {
		positions := make([]int, 0, next)
		for p := range next {
			positions = append(positions, p)
		}
		return r.dealt(s, func(d *Deal) { d.LastHand = &last }, 0, positions...)
	}
	for next := 1; next <= 5; next++ {
		for _, last := range []bool{false, true} {
			s := r.committed()
			err := tell(s, next, last)
			expect(t, "the cut card outside of its range", err, next < 2 && last || next >= 4 && !last)
			if err == nil {
				expect(t, "as the tape shows", r.closed(s), last != (next >= out.EndAt))
			}
		}
	}
	s := r.committed()
	expect(t, "out at 2", tell(s, 2, true), false)
	expect(t, "and not at 3", tell(s, 3, false), true)
	fixed := h.rig(audit.Context{Recipe: shuffle.Recipe{Cards: 5, Take: 5}, EndAt: 3}, nil)
	none := h.rig(fiveCards, nil)
	yes := true
	expect(t, "a fixed one too early", fixed.dealt(fixed.committed(), func(d *Deal) { d.LastHand = &yes }, 0, 0, 1),
		true)
	expect(t, "a fixed one not told", fixed.dealt(fixed.committed(), nil, 0, 0, 1, 2), true)
	expect(t, "one where there is none", none.dealt(none.committed(), func(d *Deal) { d.LastHand = &yes }, 0, 0), true)
}

// otherParent is what a client says of a child that continues something else.
const otherParent = "it is of another parent, or of other cards of it"

// TestHostileChild: a child shows only what its parent gave it.
func TestHostileChild(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	parent := h.rig(fiveCards, nil)
	context := audit.Context{Recipe: shuffle.Recipe{Cards: 3, Take: 3},
		Parent: &audit.Parent{ID: 0, Positions: []uint16{2, 3, 4}}}
	values := make([]uint32, 5)
	for p := range values {
		values[p] = parent.tree.Open(p).Value
	}
	honest := h.rig(context, func(v []uint32) {
		for i, x := range v {
			v[i] = values[2+x]
		}
	})
	know := func(s *Committed) *Committed {
		s.parent = values
		return s
	}
	s := know(honest.committed())
	expect(t, "an honest child", honest.dealt(s, nil, 0, 0, 1, 2), false)
	expect(t, "its end", honest.closed(s), false)
	expect(t, "its end, where the parent is not known", honest.closed(honest.committed()), false)
	forged := *honest
	forged.tape = append([]byte{honest.tape[0] ^ 1}, honest.tape[1:]...)
	expect(t, "another tape, where the parent is not known", forged.closed(forged.committed()), true)
	dealt := h.rig(context, func(v []uint32) {
		for i, x := range v {
			v[i] = values[2+x]
		}
		v[0] = values[0]
	})
	expect(t, "a card that was dealt from the parent", dealt.dealt(know(dealt.committed()), nil, 0, 0), true)
	sealed := dealt.committed()
	sealed.barred = []uint32{values[0]}
	expect(t, "the same, where only what was dealt is known", dealt.dealt(sealed, nil, 0, 0), true)
	grand := h.rig(audit.Context{Recipe: shuffle.Recipe{Cards: 2, Take: 2}, Parent: &audit.Parent{ID: 0,
		Positions: []uint16{0, 1}}}, func(v []uint32) { v[0], v[1] = values[0], values[3] })
	last := grand.committed()
	must(t, last.inherit(sealed, proved{Entry: audit.Entry{Body: &audit.Close{Outcome: audit.OutcomeContinued}}}))
	expect(t, "the same, shown by a child of the child", grand.dealt(last, nil, 0, 0), true)
	moved := h.rig(context, func(v []uint32) {
		for i, x := range v {
			v[i] = values[2+(x+1)%3]
		}
	})
	expect(t, "another order than the tape's", moved.closed(know(moved.committed())), true)

	positions := []int{2, 3, 4}
	differs := func(c *audit.Commit, parent *Committed, asked []int) string {
		commit := *c
		commit.KeyTag = audit.KeyTag(h.signer.Name(), "", "t", "k")
		child := &Committed{Shuffle: Shuffle{ID: 1}, commit: &commit}
		req := ShuffleRequest{Table: "t", Parent: &Parent{ID: parent.ID, Positions: asked}}
		want, _ := req.wants(commit.Context, parent)
		return child.differs("k", &req, want)
	}
	for id, what := range map[uint64]string{0: "", 5: otherParent, 1: otherParent} {
		of := parent.committed()
		of.ID = id
		if got := differs(honest.commit, of, positions); got != what {
			t.Errorf("a child of shuffle 0 as one of %d: %q", id, got)
		}
	}
	auditor := context
	auditor.Disclosure = audit.DisclosureAuditor // and its parent is public
	if got := differs(h.rig(auditor, nil).commit, parent.committed(), positions); got != "it is disclosed to others" {
		t.Errorf("a child that is not disclosed as its parent is: %q", got)
	}
	for what, c := range map[string]struct {
		end   *audit.Close
		wrong bool
	}{
		"the parent's end":  {&audit.Close{Outcome: audit.OutcomeContinued}, false},
		"another shuffle's": {&audit.Close{Shuffle: 7, Outcome: audit.OutcomeContinued}, true},
		"an end as completed": {&audit.Close{Outcome: audit.OutcomeCompleted, Form: audit.FormTape,
			Tape: parent.tape}, true},
	} {
		child := honest.committed()
		err := child.inherit(parent.committed(), proved{Entry: audit.Entry{Body: c.end}})
		expect(t, what, err, c.wrong)
	}
	s = parent.committed()
	expect(t, "a deal of the parent", parent.dealt(s, nil, 0, 0, 1), false)
	for what, c := range map[string]struct {
		got   []uint16
		asked []int
		wrong bool
	}{
		"what was not dealt":           {[]uint16{2, 3, 4}, nil, false},
		"others dealt on in that time": {[]uint16{3, 4}, nil, true}, // and none that is known
		"what was dealt":               {[]uint16{1, 2, 3, 4}, nil, true},
		"a gap":                        {[]uint16{2, 4}, nil, true},
		"another order":                {[]uint16{3, 2, 4}, nil, true},
		"as asked":                     {[]uint16{4, 0}, []int{4, 0}, false},
		"not as asked":                 {[]uint16{0, 4}, []int{4, 0}, true},
		"fewer than asked":             {[]uint16{4, 0}, []int{4, 0, 1}, true},
		"other ones, the right number": {[]uint16{4, 1}, []int{4, 0}, true},
	} {
		of := context
		of.Parent = &audit.Parent{ID: 0, Positions: c.got}
		of.Recipe = shuffle.Recipe{Cards: len(c.got), Take: len(c.got)}
		if got := differs(h.rig(of, nil).commit, s, c.asked); (got == otherParent) != c.wrong || !c.wrong && got != "" {
			t.Errorf("%s: %q", what, got)
		}
	}
}

// TestHostileCommit: commits that contradict their table, their plan or what is pinned.
func TestHostileCommit(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	r := h.rig(fiveCards, nil)
	prove := func(c *Client, at int, change func(*audit.Commit, *Shuffle)) error {
		commit, s := *r.commit, r.committed().Shuffle
		s.ID, s.CloseBy = uint64(at), timestamp(commit.CloseBy)
		change(&commit, &s)
		bodies := make([]audit.Body, at+1)
		for i := range bodies {
			bodies[i] = &commit
		}
		s.Receipt, s.Serial = h.receipts(bodies...)[at], commit.Serial
		_, err := c.proveCommit(t.Context(), s, reply{})
		return err
	}
	as := func(serial, previous uint64) func(*audit.Commit, *Shuffle) {
		return func(c *audit.Commit, _ *Shuffle) { c.Serial, c.Previous = serial, previous }
	}
	for what, c := range map[string]struct {
		serial, previous uint64
		at               int
		wrong            bool
	}{
		"the next one":              {4, 5, 6, false},
		"one further on":            {5, 6, 9, false},
		"an earlier one":            {2, 1, 3, false},
		"the same serial elsewhere": {3, 2, 7, true},
		"another one before":        {4, 4, 6, true},
		"one before that is below":  {5, 4, 9, true},
		"a later one below":         {5, 2, 4, true},
		"an earlier one above":      {2, 1, 6, true},
		"the next one below":        {4, 5, 3, true},
	} {
		client := h.client()
		expect(t, "serial 3 at entry 5", prove(client, 5, as(3, 2)), false)
		client.heads = newHeads() // each of these logs is another one
		expect(t, what, prove(client, c.at, as(c.serial, c.previous)), c.wrong)
	}
	lost := func(_ *audit.Commit, s *Shuffle) { s.ID = anyIndex }
	expect(t, "an index that is none", prove(h.client(), 1, lost), true)
	planned := func(p audit.Planned) func(*audit.Commit, *Shuffle) {
		return func(c *audit.Commit, _ *Shuffle) {
			context := *c.Context
			context.Plan = []audit.Planned{p}
			c.Context = &context
		}
	}
	at, _ := audit.BeaconTime(audit.Quicknet, 2)
	later := audit.Planned{Source: audit.SourceBeacon, Chain: audit.Quicknet, Round: 2}
	expect(t, "a beacon", prove(h.client(), 1, planned(later)), false)
	unknown := later
	unknown.Chain = Hash{1}
	expect(t, "an unknown chain", prove(h.client(), 1, planned(unknown)), true)
	h.at = at * 1000
	expect(t, "a round that is out", prove(h.client(), 1, planned(later)), true)
	strict := h.client()
	strict.cfg.Production = true
	expect(t, "a sandbox for production", prove(strict, 1, as(1, 0)), true)
}

// TestHostileOrder: an order of a co-dealer that commits to one value twice shows one card at two places. The receipt
// of the co-dealer's deal is of the entry that the house's deal names.
func TestHostileOrder(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	five := fiveCards
	five.ForLedger = h.signer.Name()
	order := h.rig(five, func(v []uint32) { v[1] = v[0] })
	five.ForLedger, five.Plan = "", []audit.Planned{{Source: audit.SourceCoDealer, Origin: "a.example", Index: 3}}
	r := h.rig(five, nil)
	v := order.tree.Values[0]
	given := h.receipts(order.commit, &audit.Deal{Runs: []audit.Run{{Count: 1, Purpose: audit.PurposeSeat}}})
	named, _ := audit.ParseReceipt(given[1])
	for _, one := range []struct {
		count   int
		receipt *string
		wrong   bool
	}{{1, nil, false}, {2, nil, true}, {1, &given[1], false}, {1, &given[0], true}, {1, new("no receipt"), true}} {
		count := one.count
		s := r.committed()
		s.play.bound.Second = order.commit
		entry := &audit.Deal{Runs: []audit.Run{{Count: count, Purpose: audit.PurposeSeat}},
			Blind: &audit.Blind{Deal: audit.Foreign{Index: 1, Leaf: tlog.RecordHash(named.Entry)},
				Head: audit.Head{Size: 9}, Values: []uint32{v, v}[:count]}}
		d := Deal{Time: timestamp(r.at), Next: count, Receipt: h.receipts(r.commit, entry)[1], CoDealer: one.receipt}
		for place := range count {
			card, by := cardAt(r.commit.Context, r.tree, place, int(v)), order.tree.Open(place)
			card.By = &CoDealerOpening{Salt: by.Salt, Value: by.Value}
			for _, p := range by.Proof {
				card.By.Proof = append(card.By.Proof, Hash(p))
			}
			d.Cards = append(d.Cards, card)
		}
		req := DealRequest{Runs: []Run{{Count: count, Purpose: PurposeSeat}}, State: &Hash{7}}
		_, err := h.client().proveDeal(t.Context(), s, &req, &d, reply{})
		expect(t, fmt.Sprintf("one card at %d places", count), err, one.wrong)
	}
}

// TestHostileTime: a quorum that was complete long after the deal did not see the commit before it, whatever size it
// cosigned. Then a transcript decides, and there is none here.
func TestHostileTime(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	_, vkey, err := note.GenerateKey(rand.Reader, "w.example")
	must(t, err)
	witness, err := fnote.VKeyToCosignatureV1(vkey)
	must(t, err)
	c, err := New(Config{URL: "http://127.0.0.1:1", Ledger: "main", Attempts: 1,
		Policy: fmt.Sprintf("log %s\nwitness w %s\nquorum w\n", h.vkey, witness)})
	must(t, err)
	for seconds, early := range map[int64]bool{1_000: true, 1_010: true, 1_011: false} {
		s := h.rig(fiveCards, nil).committed()
		s.play.seen, s.play.whole = 1, seconds
		deal := proved{Entry: audit.Entry{Time: 1_000_000}, index: 1}
		if err := c.proveEarly(t.Context(), s, deal, true); (err == nil) != early {
			t.Errorf("a deal at 1000, cosigned at %d: %v", seconds, err)
		}
	}
}
