package load

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/keys"
	"shuffled/internal/shuffle"
)

const origin = "example.com/load"

// signed is a ledger of these entries under one checkpoint.
type signed struct {
	checkpoint []byte
	receipts   []string
}

// sign makes the receipts of a ledger; these tests do not need a legal ledger.
func sign(t *testing.T, key *keys.SigningKey, bodies ...audit.Body) signed {
	t.Helper()
	var entries [][]byte
	var hashes []tlog.Hash
	reader := tlog.HashReaderFunc(func(indexes []int64) (out []tlog.Hash, err error) {
		for _, i := range indexes {
			out = append(out, hashes[i])
		}
		return out, nil
	})
	for i, body := range bodies {
		b, err := audit.Entry{Time: 1_700_000_000_000, Actor: as("dealer"), Body: body}.Encode()
		if err != nil {
			t.Fatal(err)
		}
		more, err := tlog.StoredHashes(int64(i), b, reader)
		if err != nil {
			t.Fatal(err)
		}
		entries, hashes = append(entries, b), append(hashes, more...)
	}
	n := int64(len(entries))
	root, err := tlog.TreeHash(n, reader)
	if err != nil {
		t.Fatal(err)
	}
	s := signed{}
	s.checkpoint, err = note.Sign(&note.Note{Text: audit.Checkpoint{Origin: origin, Size: uint64(n),
		Root: root}.Text()}, key.Signer())
	if err != nil {
		t.Fatal(err)
	}
	for i, b := range entries {
		p, err := tlog.ProveRecord(n, int64(i), reader)
		if err != nil {
			t.Fatal(err)
		}
		s.receipts = append(s.receipts, audit.Receipt{Index: uint64(i), Entry: b, Proof: p,
			Checkpoint: s.checkpoint}.Text())
	}
	return s
}

func text(t *testing.T, a any) []byte {
	t.Helper()
	b, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// tape is a tape of 52 cards.
func tape(i int) []byte {
	b := make([]byte, shuffle.Recipe{Cards: 52, Take: 52}.TapeLen())
	b[0] = byte(i)
	return b
}

// TestCheck accepts what was requested and proved, and nothing else.
func TestCheck(t *testing.T) {
	key, err := keys.GenerateSigning(origin)
	if err != nil {
		t.Fatal(err)
	}
	other, err := keys.GenerateSigning(origin)
	if err != nil {
		t.Fatal(err)
	}
	pinned, err := audit.ParseVKey(key.VKey())
	if err != nil {
		t.Fatal(err)
	}
	standard, _ := shuffle.Named("standard-52")
	context := &audit.Context{Origin: origin, Table: "t-1", DeckHash: standard.Hash(),
		Recipe: shuffle.Recipe{Cards: 52, Take: 52}, Disclosure: audit.DisclosurePublic}
	commit := func(c *audit.Context, i int) (*audit.Commit, *openings.DeckTree) {
		tape := tape(i)[:c.Recipe.TapeLen()]
		commitment := openings.Commitment(c.Encode(), tape)
		out, err := c.Recipe.Run(tape)
		if err != nil {
			t.Fatal(err)
		}
		tree := openings.NewDeckTree(openings.LeafTag(commitment, c.Encode()), out.Values, openings.Salts(commitment, tape,
			len(out.Values)))
		return &audit.Commit{Context: c, Commitment: commitment, DeckRoot: tree.Root(), Serial: uint64(i + 1),
			Previous: uint64(i), CloseBy: 1,
			KeyTag: audit.KeyTag(origin, "dealer", "t-1", fmt.Sprint("k", i))}, tree
	}
	first, tree := commit(context, 0)
	second, _ := commit(context, 1)
	card := func(tree *openings.DeckTree, place int) openings.Card {
		o := tree.Open(place)
		return openings.NewCard(place, o, standard.Card(o.Value))
	}
	deal := &audit.Deal{Shuffle: 1, First: 4,
		Runs: []audit.Run{{Count: 2, Purpose: audit.PurposeSeat, Recipient: "seat-1"}}}
	later := &audit.Deal{Shuffle: 1, First: 6, Runs: []audit.Run{{Count: 1, Purpose: audit.PurposeBoard}}}
	closing := func(o audit.Outcome, tape []byte) *audit.Close {
		return &audit.Close{Shuffle: 1, Outcome: o, Form: audit.FormTape, Tape: tape}
	}
	end := closing(audit.OutcomeCompleted, tape(0))
	marked, half, planned := *context, *context, *context
	marked.DeckHash, half.Recipe, planned.Plan = [32]byte{1}, shuffle.Recipe{Cards: 52, Take: 26},
		[]audit.Planned{{Source: audit.SourceSlot, Slot: [32]byte{1}}}
	rooted, _ := commit(context, 0)
	rooted.DeckRoot[31] ^= 1
	l := sign(t, key, deal, first, second, deal, end, later)
	fork := sign(t, key, deal, first, second, deal, closing(audit.OutcomeEndedEarly, tape(0)), later)
	otherTape := sign(t, key, deal, first, second, deal, closing(audit.OutcomeCompleted, tape(1)), later)
	otherRoot := sign(t, key, deal, rooted, second, deal, end, later)
	foreign := sign(t, other, deal, first, second, deal, end, later)
	under := func(l signed, i int, b *audit.Commit) answer {
		return answer{ID: uint64(i), Commitment: b.Commitment[:], DeckRoot: b.DeckRoot[:], Receipt: l.receipts[i]}
	}
	of := func(c *audit.Context) claim { // a ledger of one commit
		b, _ := commit(c, 0)
		return claim{kind: Commit, key: "k0", table: "t-1",
			answer: text(t, under(sign(t, key, deal, b), 1, b))}
	}
	batch := func(all ...answer) any {
		var results []result
		for _, a := range all {
			results = append(results, result{200, a})
		}
		return map[string]any{"results": results}
	}
	both := func(l signed, first *audit.Commit) claim {
		return claim{kind: Commit, keys: []string{"k0", "k1"}, table: "t-1",
			answer: text(t, batch(under(l, 1, first), under(l, 2, second)))}
	}
	receipt := func(r string) any { return map[string]any{"receipt": r} }
	dealing := func(r string, cards ...openings.Card) any { return map[string]any{"receipt": r, "cards": cards} }
	single := claim{kind: Commit, key: "k0", table: "t-1", answer: text(t, under(l, 1, first))}
	pair := both(l, first)
	dealt := claim{kind: Deal, shuffle: 1, first: 4, count: 2,
		answer: text(t, dealing(l.receipts[3], card(tree, 4), card(tree, 5)))}
	turned := claim{kind: Deal, shuffle: 1, first: 6, count: 1, answer: text(t, dealing(l.receipts[5], card(tree, 6)))}
	closed := claim{kind: Close, shuffle: 1, answer: text(t, receipt(l.receipts[4]))}

	lying := func(c claim, change func(*claim)) claim {
		c.answer = bytes.Clone(c.answer)
		change(&c)
		return c
	}
	say := func(a any) func(*claim) { return func(c *claim) { c.answer = text(t, a) } }
	// The same checkpoint with one byte of the signature changed.
	resigned := l.receipts[3]
	if i := strings.LastIndex(resigned, " "); resigned[i+20] == 'A' {
		resigned = resigned[:i+20] + "B" + resigned[i+21:]
	} else {
		resigned = resigned[:i+20] + "A" + resigned[i+21:]
	}
	deals := func(c claim, cards ...openings.Card) claim {
		r := l.receipts[3]
		if c.first == 6 {
			r = l.receipts[5]
		}
		return lying(c, say(dealing(r, cards...)))
	}
	spoilt := func(place int, change func(*openings.Card)) openings.Card {
		c := card(tree, place)
		change(&c)
		return c
	}
	// A tree that has one card twice.
	marks := make([]uint32, 52)
	doubled := openings.NewDeckTree(openings.TagOf(first), marks, openings.Salts([32]byte{}, tape(0), 52))
	twice := *first
	twice.DeckRoot = doubled.Root()
	two := sign(t, key, deal, &twice, second, deal, end, later)

	for name, c := range map[string]struct {
		claims []claim // without a commit first: after both
		says   string  // of the last claim; empty: all hold
	}{
		"all five":        {[]claim{pair, dealt, turned, closed}, ""},
		"a single commit": {[]claim{single}, ""},
		"an entry twice":  {[]claim{dealt, dealt}, "entry 3 answers two requests"},
		"a commit twice":  {[]claim{single, pair}, "entry 1 answers two requests"},
		"another key":     {[]claim{lying(single, func(c *claim) { c.key = "k1" })}, "not asked for"},
		"another table":   {[]claim{lying(single, func(c *claim) { c.table = "t-2" })}, "not asked for"},
		"a deal for one": {[]claim{lying(single, say(answer{ID: 3, Receipt: l.receipts[3]}))},
			"a deal that was not asked for"},
		"another id": {[]claim{lying(single,
			func(c *claim) { c.answer = bytes.Replace(c.answer, []byte(`"id":1`), []byte(`"id":2`), 1) })},
			"it is of shuffle 2"},
		"another commitment": {[]claim{lying(single,
			say(answer{ID: 1, Commitment: []byte{9}, DeckRoot: first.DeckRoot[:], Receipt: l.receipts[1]}))},
			"another commitment"},
		"another root": {[]claim{lying(single,
			say(answer{ID: 1, Commitment: first.Commitment[:], DeckRoot: []byte{9}, Receipt: l.receipts[1]}))},
			"another commitment or deck root"},
		"another deck": {[]claim{of(&marked)}, "entry 1 is of another deck"},
		"half a deck":  {[]claim{of(&half)}, "entry 1 is not of a whole deck"},
		"a mix":        {[]claim{of(&planned)}, "entry 1 is not of a whole deck"},
		"one too few": {[]claim{lying(pair, say(batch(under(l, 1, first))))},
			"2 operations were asked for, and 1"},
		"in another order": {[]claim{lying(pair, say(batch(under(l, 2, second), under(l, 1, first))))},
			"not asked for"},
		"the second's key": {[]claim{lying(single, say(under(l, 2, second)))}, "not asked for"},
		"another shuffle":  {[]claim{lying(dealt, func(c *claim) { c.shuffle = 2 })}, "not asked for"},
		"another place":    {[]claim{lying(dealt, func(c *claim) { c.first = 6 })}, "not asked for"},
		"fewer cards":      {[]claim{lying(dealt, func(c *claim) { c.count = 3 })}, "not asked for"},
		"a close for a deal": {[]claim{lying(dealt, say(receipt(l.receipts[4])))},
			"a close that was not asked for"},
		"a deal for a close": {[]claim{lying(closed, say(receipt(l.receipts[3])))},
			"a deal that was not asked for"},
		"another's close": {[]claim{lying(closed, func(c *claim) { c.shuffle = 2 })}, "not asked for"},
		"another outcome": {[]claim{both(fork, first), lying(closed, say(receipt(fork.receipts[4])))},
			"a close that was not asked for"},
		"another ledger key": {[]claim{lying(dealt, say(receipt(foreign.receipts[3])))},
			"not signed by the ledger's key"},
		"a known checkpoint signed anew": {[]claim{closed, lying(dealt, say(receipt(resigned)))},
			"not signed by the ledger's key"},
		"a fork": {[]claim{closed, lying(dealt, say(receipt(fork.receipts[3])))},
			"the ledger was forked"},
		"another entry's proof": {[]claim{lying(dealt,
			say(receipt(strings.Replace(l.receipts[0], "index 0\n", "index 3\n", 1))))}, "does not lead"},
		"no JSON": {[]claim{lying(dealt, func(c *claim) { c.answer = c.answer[1:] })},
			"not what the contract says"},

		"no cards":       {[]claim{deals(dealt)}, "place 4 of shuffle 1 is not opened"},
		"a card too few": {[]claim{deals(dealt, card(tree, 4))}, "place 5 of shuffle 1 is not opened"},
		"a card too many": {[]claim{deals(dealt, card(tree, 4), card(tree, 5), card(tree, 6))},
			"1 cards more than were dealt"},
		"cards the other way": {[]claim{deals(dealt, card(tree, 5), card(tree, 4))},
			"place 4 of shuffle 1: the card is of place 5"},
		"a card moved": {[]claim{deals(turned, spoilt(7, func(c *openings.Card) { c.Place = 6 }))},
			"the card is of place 6 and position 7"},
		"a card of another place": {[]claim{deals(turned, spoilt(6, func(c *openings.Card) { c.Place = 7 }))},
			"the card is of place 7 and position 6"},
		"a card renumbered": {[]claim{deals(turned,
			spoilt(7, func(c *openings.Card) { c.Place, c.Position = 6, 6 }))}, "does not lead to the deck root"},
		"another card": {[]claim{deals(turned,
			spoilt(6, func(c *openings.Card) { c.Value = (c.Value + 1) % 52; c.Card = standard.Card(c.Value) }))},
			"does not lead to the deck root"},
		"another name": {[]claim{deals(turned,
			spoilt(6, func(c *openings.Card) { c.Card = standard.Card((c.Value + 1) % 52) }))}, "of the deck"},
		"a card of no deck": {[]claim{deals(turned, spoilt(6, func(c *openings.Card) { c.Value = 52 }))},
			"is not card 52 of the deck"},
		"another salt": {[]claim{deals(turned,
			spoilt(6, func(c *openings.Card) { c.Salt = card(tree, 7).Salt }))}, "does not lead to the deck root"},
		"half a salt": {[]claim{deals(turned, spoilt(6, func(c *openings.Card) { c.Salt = c.Salt[:22] }))},
			"32 bytes"},
		"a hash of a proof": {[]claim{deals(turned, spoilt(6, func(c *openings.Card) { c.Proof[2] = c.Proof[1] }))},
			"does not lead to the deck root"},
		"another tape": {[]claim{both(otherTape, first),
			lying(closed, say(receipt(otherTape.receipts[4])))}, "the tape of shuffle 1 does not open its commitment"},
		"a root of nothing": {[]claim{both(otherRoot, rooted),
			lying(closed, say(receipt(otherRoot.receipts[4])))}, "does not lead to its deck root"},
		"a card twice": {[]claim{both(two, &twice),
			lying(dealt, say(dealing(two.receipts[3], card(doubled, 4), card(doubled, 5))))},
			"place 5 of shuffle 1: card 0 was dealt before"},
	} {
		k := newChecker([]note.Verifier{pinned}, "standard-52")
		if c.claims[0].kind != Commit {
			c.claims = append([]claim{pair}, c.claims...)
		}
		for i, claim := range c.claims {
			err := k.check(&claim)
			if last := i == len(c.claims)-1; !last || c.says == "" {
				if err != nil {
					t.Errorf("%s: claim %d: %v", name, i, err)
				}
			} else if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v; want %q", name, err, c.says)
			}
		}
	}
	for _, c := range []claim{dealt, closed} {
		if err := newChecker([]note.Verifier{pinned}, "standard-52").check(&c); err == nil ||
			err.Error() != "the commit of shuffle 1 is not proved" {
			t.Errorf("without its commit: %v", err)
		}
	}
}

// TestJudged notes receipts that the daemon itself does not prove.
func TestJudged(t *testing.T) {
	var k kept
	for i, verdict := range []string{`{"verdict":"proved","level":"recorded"}`, `{"verdict":"failed"}`,
		`{"Verdict":"proved"}`, `proved`} {
		k.judged([]byte(verdict))
		if want := min(i, 3); len(k.unproved) != want {
			t.Errorf("%s: %s", verdict, fmt.Sprint(len(k.unproved)))
		}
	}
}
