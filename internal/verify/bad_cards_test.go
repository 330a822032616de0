package verify

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
)

// editedCards changes what the cards say.
func editedCards(b *badAdder) {
	cards := func(step, name, about string, change func(f *openings.Transcript)) {
		b.edited(step, "card-"+name, about, plain(b.T), change)
	}
	first := func(change func(c *openings.Card)) func(*openings.Transcript) {
		return func(f *openings.Transcript) { change(&f.Cards[0]) }
	}
	other := func(f *openings.Transcript) uint32 { return f.Cards[1].Value }
	cards(stepOpenings, "name", "another name", first(func(c *openings.Card) { c.Card = "Joker" }))
	cards(stepOpenings, "no-name", "no name", first(func(c *openings.Card) { c.Card = "" }))
	cards(stepOpenings, "value", "another value", func(f *openings.Transcript) { f.Cards[0].Value = other(f) })
	cards(stepOpenings, "value-and-name", "another card altogether", func(f *openings.Transcript) {
		f.Cards = f.Cards[:1]
		f.Cards[0].Value = (f.Cards[0].Value + 1) % 6
		f.Cards[0].Card = sixCards[f.Cards[0].Value]
	})
	cards(stepOpenings, "value-beyond-deck", "a value that no card has", first(func(c *openings.Card) { c.Value = 6 }))
	cards(stepOpenings, "value-largest", "the largest value there is",
		first(func(c *openings.Card) { c.Value = 1<<32 - 1 }))
	cards(stepOpenings, "position", "another position", first(func(c *openings.Card) { c.Position = 5 }))
	cards(stepOpenings, "place-shifted", "every place one further", func(f *openings.Transcript) {
		for i := range f.Cards {
			f.Cards[i].Place++
		}
	})
	cards(stepOpenings, "places-descend", "cards out of order",
		func(f *openings.Transcript) { slices.Reverse(f.Cards) })
	cards(stepOpenings, "twice", "the same card twice",
		func(f *openings.Transcript) { f.Cards = append(f.Cards[:1:1], f.Cards...) })
	cards(stepOpenings, "undealt", "an honest opening of a place that was not dealt", func(f *openings.Transcript) {
		f.Cards = append(f.Cards, plain(b.T).card(5))
	})
	cards(stepOpenings, "salt", "another salt", first(func(c *openings.Card) {
		c.Salt = base64.StdEncoding.EncodeToString(seeded("salt", 32))
	}))
	cards(stepOpenings, "proof-bit", "another proof", first(func(c *openings.Card) {
		c.Proof[0] = base64.StdEncoding.EncodeToString(seeded("proof", 32))
	}))
	cards(stepOpenings, "proof-short", "a proof of one hash fewer",
		first(func(c *openings.Card) { c.Proof = c.Proof[:len(c.Proof)-1] }))
	cards(stepOpenings, "proof-long", "a proof of one hash more",
		first(func(c *openings.Card) { c.Proof = append(c.Proof, c.Proof[0]) }))
	cards(stepOpenings, "proof-none", "no proof", first(func(c *openings.Card) { c.Proof = []string{} }))
	cards(stepFormat, "proof-13", "a longer proof than 4,096 cards need",
		first(func(c *openings.Card) { c.Proof = slices.Repeat(c.Proof[:1], 13) }))
	cards(stepFormat, "place-negative", "a negative place", first(func(c *openings.Card) { c.Place = -1 }))
	cards(stepFormat, "place-4096", "a place that no shuffle has",
		func(f *openings.Transcript) { f.Cards[4].Place = 4096 })
	cards(stepFormat, "position-4096", "a position that no shuffle has",
		func(f *openings.Transcript) { f.Cards[4].Position = 4096 })

	b.edited(stepOpenings, "card-of-another", "a card of another recipient in one recipient's file", plain(b.T),
		func(f *openings.Transcript) { f.Recipient = "seat-2" })
	b.edited(stepFormat, "recipient-grammar", "a recipient that is no name", plain(b.T),
		func(f *openings.Transcript) { f.Recipient = "seat 1" })
	b.edited(stepOpenings, "card-other-shuffle", "a card of another shuffle of the same deck", plain(b.T),
		func(f *openings.Transcript) {
			h := open(b.T)
			h.add(&audit.Event{Kind: audit.EventAlarm, Alarm: audit.AlarmWitnesses,
				Reason: "another index, another tape"})
			f.Cards[0] = h.commitTo(h.cards(sixCards), sixCards).card(0)
		})
	b.edited(stepOpenings, "mixed-as-unmixed", "a mixed shuffle's cards by position", rich(b.T),
		func(f *openings.Transcript) {
			g := rich(b.T)
			g.order = openings.Order{}
			f.Cards = []openings.Card{g.card(0)}
		})
	g := mixedDraws(b.T).deal(board(3))
	b.edited(stepOpenings, "draw-shown-as-committed",
		"a mixed draw's value after the shift in place of the committed one", g, func(f *openings.Transcript) {
			f.Cards[2].Value = f.Cards[2].Value%1000 + 1
		})
	b.edited(stepOpenings, "draw-with-name", "a draw with a card's name", g,
		func(f *openings.Transcript) { f.Cards[0].Card = "Ace" })
	b.edited(stepOpenings, "draw-twice", "the same draw twice", g,
		func(f *openings.Transcript) { f.Cards = append(f.Cards[:1:1], f.Cards...) })
	b.edited(stepOpenings, "draw-zero", "a draw of 0", g, func(f *openings.Transcript) { f.Cards[0].Value = 0 })
	b.edited(stepOpenings, "draw-above-range", "a draw above its range", g,
		func(f *openings.Transcript) { f.Cards[0].Value = 7 })
}

// editedNumbers are about numbers without repeats.
func editedNumbers(b *badAdder) {
	// Of an open shuffle: a closed one has to open every place.
	g := mixedNumbers(b.T).deal(board(4))
	cards := func(step, name, about string, change func(*openings.Transcript)) {
		b.edited(step, "numbers-"+name, about, g, change)
	}
	cards(stepOpenings, "gap", "a place left out: the numbers behind it hang on it",
		func(f *openings.Transcript) { f.Cards = slices.Delete(f.Cards, 1, 2) })
	cards(stepOpenings, "first-left-out", "the first place left out",
		func(f *openings.Transcript) { f.Cards = f.Cards[1:] })
	cards(stepOpenings, "last-alone", "the last place alone", func(f *openings.Transcript) { f.Cards = f.Cards[3:] })
	cards(stepOpenings, "order", "two places exchanged",
		func(f *openings.Transcript) { f.Cards[1], f.Cards[2] = f.Cards[2], f.Cards[1] })
	cards(stepOpenings, "zero", "a draw of 0", func(f *openings.Transcript) { f.Cards[0].Value = 0 })
	cards(stepOpenings, "above-range", "a draw above its range, which is one less at each place",
		func(f *openings.Transcript) { f.Cards[2].Value = 48 })
	cards(stepOpenings, "other-draw", "another draw", func(f *openings.Transcript) {
		f.Cards[2].Value = f.Cards[2].Value%47 + 1
	})
	cards(stepOpenings, "as-shown", "the number that is shown in place of the draw", func(f *openings.Transcript) {
		shows, err := g.order.Shows(g.values)
		must(b.T, err)
		f.Cards[0].Value = shows[0]
	})
	cards(stepOpenings, "with-name", "a number with a card's name",
		func(f *openings.Transcript) { f.Cards[0].Card = "7" })
	cards(stepDeck, "with-deck", "a deck in a file of numbers", func(f *openings.Transcript) { f.Deck = sixCards })
	g = mixedNumbers(b.T).deal(board(4)).close(audit.OutcomeCompleted, 0)
	cards(stepOpenings, "few-closed", "a closed file without its last number",
		func(f *openings.Transcript) { f.Cards = f.Cards[:3] })
	relaid := func(step, name, about string, at int, edit func(*audit.Entry)) {
		b.file(step, "numbers-"+name, about, victim{t: b.T, g: g}.relaid(at, edit))
	}
	relaid(stepLegality, "hidden", "numbers dealt to a recipient alone", 2, func(e *audit.Entry) {
		d := e.Body.(*audit.Deal)
		d.Runs = []audit.Run{seat("seat-1", 1), board(3)}
	})
	relaid(stepOpenings, "of-more", "the commit says one number more than the tape was drawn for", 0,
		func(e *audit.Entry) {
			must(b.T, e.Body.(*audit.Commit).Context.TakeNumbers(50, 6))
		})
	relaid(stepOpenings, "as-list", "the commit says a draw list of the same ranges", 0, func(e *audit.Entry) {
		e.Body.(*audit.Commit).Context.Of = 0
	})
}

func editedDecks(b *badAdder) {
	deck := func(step, name, about string, change func([]string) []string) {
		b.edited(step, "deck-"+name, about, plain(b.T),
			func(f *openings.Transcript) { f.Deck = change(slices.Clone(f.Deck)) })
	}
	deck(stepDeck, "reordered", "two cards of the deck exchanged",
		func(d []string) []string { d[0], d[1] = d[1], d[0]; return d })
	deck(stepDeck, "renamed", "another name in the deck", func(d []string) []string { d[5] = "nine"; return d })
	deck(stepDeck, "fewer", "a card fewer", func(d []string) []string { return d[:5] })
	deck(stepDeck, "of-one", "a deck of one card", func(d []string) []string { return d[:1] })
	deck(stepDeck, "more", "a card more", func(d []string) []string { return append(d, "Joker") })
	deck(stepDeck, "absent", "no deck", func([]string) []string { return nil })
	deck(stepDeck, "name-too-long", "a name of 65 bytes",
		func(d []string) []string { d[0] = strings.Repeat("A", 65); return d })
	deck(stepDeck, "control-character", "a name with a control character",
		func(d []string) []string { d[0] = "A\x07"; return d })
	deck(stepFormat, "too-large", "4,097 cards",
		func(d []string) []string { return slices.Repeat([]string{"A"}, 4097) })
	b.edited(stepDeck, "deck-with-draws", "a deck in a draw list's file", mixedDraws(b.T).deal(board(1)),
		func(f *openings.Transcript) { f.Deck = sixCards })
}

// otherDecks are honest files of another deck than the reader asked for.
func otherDecks(b *badAdder) {
	deck := func(step, name, about, pinned string, g *game) {
		b.file(step, "shuffled-"+name, about, g.file(""), func(v *vector) { v.Trust.Deck = pinned })
	}
	of := func(cards []string) *game {
		h := open(b.T)
		return h.commitTo(h.cards(cards), cards).deal(board(1))
	}
	standard := publishedCards("standard-52")
	deck(stepDeck, "not-as-asked", "standard-52, where six of them were asked for", "shoe-6", of(standard))
	deck(stepDeck, "custom", "a deck without the ace of hearts", "standard-52", of(slices.Delete(standard, 13, 14)))
	_, child := familyOf(b.T, publishedCards("standard-52"), 2)
	deck(stepDeck, "part", "a child, whose cards the house chose", "standard-52", child)
	deck(stepDeck, "draws", "values, and no cards", "standard-52", mixedDraws(b.T).deal(board(1)))
	deck(unjudged, "unpublished", "a name that no published deck has", "shoe-17", plain(b.T))
}

// wrongTrust judges honest files by what they are not.
func wrongTrust(b *badAdder) {
	g := plain(b.T)
	trust := func(step, name, about string, file []byte, v vectorTrust) {
		b.file(step, "trust-"+name, about, file, func(c *vector) { c.Trust = v })
	}
	other := newKey(b.T, "example.com/other", "other key")
	same := newKey(b.T, "example.com/main", "a key of the same name")
	trust(stepSignature, "other-ledger", "the key of another ledger", g.file(""), vectorTrust{VKey: other.vkey})
	trust(stepSignature, "other-key", "another key of the same name", g.file(""), vectorTrust{VKey: same.vkey})
	trust(stepSignature, "policy-other-ledger", "a policy for another ledger", g.file(""),
		vectorTrust{Policy: "log " + other.vkey + "\nquorum none\n"})
	trust(stepSignature, "receipt-other-ledger", "a receipt under the key of another ledger",
		[]byte(g.h.receipt(g.id).Text()), vectorTrust{VKey: other.vkey})

	w1, w2, w3 := newKey(b.T, "witness.example/1", "w1"), newKey(b.T, "witness.example/2", "w2"),
		newKey(b.T, "witness.example/3", "w3")
	v1, _ := w1.witnessKey()
	v2, _ := w2.witnessKey()
	policy := vectorTrust{Policy: fmt.Sprintf("log %s\nwitness a %s\nwitness b %s\ngroup g all a b\nquorum g\n",
		g.h.key.vkey, v1, v2)}
	trust(stepWitnesses, "quorum-none-cosigned", "a policy with witnesses, and no cosignature", g.file(""), policy)
	g.h.witnesses = []keyPair{w1}
	trust(stepWitnesses, "quorum-one-of-two", "one of two witnesses", g.file(""), policy)
	g.h.witnesses = []keyPair{w1, w3}
	trust(stepWitnesses, "quorum-wrong-witness", "two witnesses, one of them unknown", g.file(""), policy)
	g.h.witnesses = []keyPair{w1, w2}
	trust(stepWitnesses, "quorum-forged", "a cosignature with a damaged signature",
		[]byte(damageCosignature(b.T, string(g.file("")), w2.name)), policy)
	b.file(stepSignature, "genesis-of-another-key",
		"nothing is trusted, and the genesis has another key than the signature",
		renamedKey(b.T).file(""), func(v *vector) { v.Trust = vectorTrust{} })
	b.file(stepEntries, "genesis-key-short", "the genesis has a key of 31 bytes",
		shortKey(b.T).file(""), func(v *vector) { v.Trust = vectorTrust{} })
	b.file(stepSignature, "genesis-key-weak",
		"nothing is trusted, and the genesis has a key under which one signature fits every message",
		weakKey(b.T).file(""), func(v *vector) { v.Trust = vectorTrust{} })
}

func weakKey(t testing.TB) *game {
	h := openEdited(t, func(genesis []byte) []byte {
		return bytes.Replace(genesis, mainKey(t).public(), smallOrder, 1)
	})
	return h.commitTo(h.cards(sixCards), sixCards).deal(board(1))
}

// damageCosignature changes one character in every signature by name.
func damageCosignature(t testing.TB, file, name string) string {
	t.Helper()
	_, rest, ok := strings.Cut(file, "— "+name+" ")
	if !ok {
		t.Fatalf("no cosignature of %s", name)
	}
	sig, _, _ := strings.Cut(rest, "\\n")
	damaged := sig[:40] + "AAAA" + sig[44:]
	return strings.ReplaceAll(file, sig, damaged)
}

func renamedKey(t testing.TB) *game {
	h := open(t, func(g *audit.Genesis) { g.SigningKey = newKey(t, "x", "another").public() })
	return h.commitTo(h.cards(sixCards), sixCards).deal(board(1))
}

func shortKey(t testing.TB) *game {
	h := openEdited(t, func(genesis []byte) []byte {
		key := mainKey(t).public()
		return bytes.Replace(genesis, append([]byte{0, 33}, key...), append([]byte{0, 32}, key[:32]...), 1)
	})
	return h.commitTo(h.cards(sixCards), sixCards).deal(board(1))
}
