package shuffle

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// MaxCardName is the longest card name in bytes (docs/SPEC.md section 3.1).
const MaxCardName = 64

// deckLabel starts the hash of a deck (docs/SPEC.md section 1.3).
const deckLabel = "shuffled/v1/deck\x00"

// Deck is an ordered list of card names, repeats allowed. A card's value is its
// index in the list, from 0. The zero Deck is empty and of no use.
type Deck struct {
	name  string
	cards []string // not changed
	hash  [32]byte
}

// NewDeck returns a custom deck of MinCards..MaxCards names, each 1..MaxCardName
// bytes of UTF-8 without invisible characters and without spaces at its ends.
func NewDeck(cards []string) (Deck, error) {
	if len(cards) < MinCards || len(cards) > MaxCards {
		return Deck{}, fmt.Errorf("a deck has %d to %d cards, not %d", MinCards, MaxCards, len(cards))
	}
	for i, c := range cards {
		if err := CheckCardName(c); err != nil {
			return Deck{}, fmt.Errorf("card %d: %w", i, err)
		}
	}
	return makeDeck("", slices.Clone(cards)), nil
}

// CheckCardName reports whether c can be the name of a card (docs/SPEC.md section 3.1).
func CheckCardName(c string) error {
	switch {
	case c == "" || len(c) > MaxCardName:
		return fmt.Errorf("a card name has 1 to %d bytes", MaxCardName)
	case !utf8.ValidString(c):
		return errors.New("a card name is UTF-8")
	case Invisible(c):
		return errors.New("a card name has no character that shows nothing, such as a control, and of white space only U+0020")
	case c[0] == ' ' || c[len(c)-1] == ' ':
		return errors.New("a card name neither starts nor ends with a space")
	}
	return nil
}

// invisible is white space other than U+0020, and what shows nothing or moves what is around it: two decks would look
// alike on paper. The list is fixed here, not taken from a version of Unicode (docs/SPEC.md section 3.1).
var invisible = regexp.MustCompile(`[\x00-\x1F\x{7F}-\x{A0}\x{AD}\x{34F}\x{600}-\x{605}\x{61C}\x{6DD}\x{70F}` +
	`\x{890}-\x{891}\x{8E2}\x{115F}-\x{1160}\x{1680}\x{17B4}-\x{17B5}\x{180B}-\x{180F}\x{2000}-\x{200F}` +
	`\x{2028}-\x{202F}\x{205F}-\x{206F}\x{2800}\x{3000}\x{3164}\x{FE00}-\x{FE0F}\x{FEFF}\x{FFA0}\x{FFF0}-\x{FFFB}` +
	`\x{110BD}\x{110CD}\x{13430}-\x{1343F}\x{16FE4}\x{1BCA0}-\x{1BCA3}\x{1D159}\x{1D173}-\x{1D17A}\x{E0000}-\x{E0FFF}]`)

// Invisible reports whether a text has a character that the names of cards must not have.
func Invisible(s string) bool { return invisible.MatchString(s) }

// Name returns the published name of a named deck, "" for a custom one.
func (d Deck) Name() string { return d.name }

// Len returns n, the number of cards.
func (d Deck) Len() int { return len(d.cards) }

// Card returns the name of the card with value v, which must be below Len.
func (d Deck) Card(v uint32) string { return d.cards[v] }

// Cards returns a copy of the list.
func (d Deck) Cards() []string { return slices.Clone(d.cards) }

// Hash returns SHA-256(label ‖ u16 n ‖ u8-prefixed names), docs/SPEC.md
// section 3.1. The name of a deck is not part of it.
func (d Deck) Hash() [32]byte { return d.hash }

// Bytes returns what Hash hashes after the label.
func (d Deck) Bytes() []byte {
	b := []byte{byte(len(d.cards) >> 8), byte(len(d.cards))}
	for _, c := range d.cards {
		b = append(append(b, byte(len(c))), c...)
	}
	return b
}

func makeDeck(name string, cards []string) Deck {
	d := Deck{name: name, cards: cards}
	d.hash = sha256.Sum256(append([]byte(deckLabel), d.Bytes()...))
	return d
}

// The published orders (docs/SPEC.md section 3.2). French suits are s h d c.
const (
	frenchSuits  = "shdc"
	frenchRanks  = "A23456789TJQK"
	shortRanks   = "A6789TJQK"
	spanishSuits = "obec" // oros, bastos, espadas, copas
	spanishRanks = "1234567SCR"
)

// Named returns the deck with the published name: standard-52, standard-54, short-36, pinochle-48, spanish-40, shoe-1 …
// shoe-16, or positions-2 … positions-4096.
func Named(name string) (Deck, bool) {
	for _, d := range publishedDecks() {
		if d.name == name {
			return d, true
		}
	}
	n, err := strconv.Atoi(strings.TrimPrefix(name, positionsPrefix))
	if err != nil || n < MinCards || n > MaxCards || name != positionsPrefix+strconv.Itoa(n) {
		return Deck{}, false
	}
	return Positions(n), true
}

const positionsPrefix = "positions-"

// Positions returns the deck of an order for another ledger: the numbers 0 … n−1 as names, n
// from MinCards to MaxCards (docs/SPEC.md section 3.2).
func Positions(n int) Deck {
	names := make([]string, n)
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	return makeDeck(positionsPrefix+strconv.Itoa(n), names)
}

// Published returns the named deck with this hash, except positions-2 … positions-4096. If two
// names have the same list, it is the first.
func Published(hash [32]byte) (Deck, bool) {
	for _, d := range publishedDecks() {
		if d.hash == hash {
			return d, true
		}
	}
	return Deck{}, false
}

// MaxShoe is the number of 52-card decks in the largest named shoe.
const MaxShoe = 16

// publishedDecks makes the named decks, in the order of docs/SPEC.md section 3.
var publishedDecks = sync.OnceValue(func() []Deck {
	french := ranked(frenchSuits, frenchRanks, 1)
	decks := []Deck{
		makeDeck("standard-52", french),
		makeDeck("standard-54", append(slices.Clone(french), "Jr", "Jb")), // red and black joker
		makeDeck("short-36", ranked(frenchSuits, shortRanks, 1)),
		makeDeck("pinochle-48", ranked(frenchSuits, "A9TJQK", 2)),
		makeDeck("spanish-40", ranked(spanishSuits, spanishRanks, 1)),
	}
	for n := 1; n <= MaxShoe; n++ {
		decks = append(decks, makeDeck("shoe-"+strconv.Itoa(n), ranked(frenchSuits, frenchRanks, n)))
	}
	return decks
})

// Names returns the published deck names in the order of docs/SPEC.md section 3.2,
// without positions-2 … positions-4096.
func Names() (names []string) {
	for _, d := range publishedDecks() {
		names = append(names, d.name)
	}
	return names
}

// ranked lists rank and suit ("As", "Td"), suit by suit, as many times as copies.
func ranked(suits, ranks string, copies int) (cards []string) {
	for range copies {
		for _, s := range suits {
			for _, r := range ranks {
				cards = append(cards, string(r)+string(s))
			}
		}
	}
	return cards
}
