package shuffle

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// The published orders, written out: docs/SPEC.md section 3.
const (
	standard52 = "As 2s 3s 4s 5s 6s 7s 8s 9s Ts Js Qs Ks " + "Ah 2h 3h 4h 5h 6h 7h 8h 9h Th Jh Qh Kh " +
		"Ad 2d 3d 4d 5d 6d 7d 8d 9d Td Jd Qd Kd " + "Ac 2c 3c 4c 5c 6c 7c 8c 9c Tc Jc Qc Kc"
	short36 = "As 6s 7s 8s 9s Ts Js Qs Ks Ah 6h 7h 8h 9h Th Jh Qh Kh " +
		"Ad 6d 7d 8d 9d Td Jd Qd Kd Ac 6c 7c 8c 9c Tc Jc Qc Kc"
	pinochle24 = "As 9s Ts Js Qs Ks Ah 9h Th Jh Qh Kh Ad 9d Td Jd Qd Kd Ac 9c Tc Jc Qc Kc"
	spanish40  = "1o 2o 3o 4o 5o 6o 7o So Co Ro 1b 2b 3b 4b 5b 6b 7b Sb Cb Rb " +
		"1e 2e 3e 4e 5e 6e 7e Se Ce Re 1c 2c 3c 4c 5c 6c 7c Sc Cc Rc"
)

// published returns the written-out order of a named deck.
func published(name string) []string {
	switch name {
	case "standard-52":
		return strings.Fields(standard52)
	case "standard-54":
		return strings.Fields(standard52 + " Jr Jb")
	case "short-36":
		return strings.Fields(short36)
	case "pinochle-48":
		return strings.Fields(pinochle24 + " " + pinochle24)
	case "spanish-40":
		return strings.Fields(spanish40)
	}
	decks := 0
	fmt.Sscanf(name, "shoe-%d", &decks)
	return slices.Repeat(strings.Fields(standard52), decks)
}

func TestNamedDecksAreThePublishedOrders(t *testing.T) {
	t.Parallel()
	for _, name := range Names() {
		d, ok := Named(name)
		if !ok {
			t.Errorf("%s is published and not there", name)
			continue
		}
		want := published(name)
		if !slices.Equal(d.Cards(), want) || d.Len() != len(want) || d.Name() != name {
			t.Errorf("%s: %d cards %q (name %q), want %q", name, d.Len(), d.Cards(), d.Name(), want)
		}
		for v, card := range want {
			if d.Card(uint32(v)) != card {
				t.Errorf("%s: card %d is %q, want %q", name, v, d.Card(uint32(v)), card)
			}
		}
	}
}

// TestNamedDecksAreFrozen loads testdata/decks.txt, whose hashes were made by a program in another language.
func TestNamedDecksAreFrozen(t *testing.T) {
	t.Parallel()
	f, err := os.Open("testdata/decks.txt")
	must(t, err)
	defer f.Close()
	var names []string
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		var name, hash string
		var n int
		if _, err := fmt.Sscan(lines.Text(), &name, &n, &hash); err != nil {
			t.Fatalf("%q: %v", lines.Text(), err)
		}
		names = append(names, name)
		d, _ := Named(name)
		if got := fmt.Sprintf("%x", d.Hash()); d.Len() != n || got != hash {
			t.Errorf("%s: %d cards with hash %s, want %d with %s", name, d.Len(), got, n, hash)
		}
	}
	if len(names) == 0 || !slices.Equal(names, Names()) {
		t.Errorf("frozen decks %q, published decks %q", names, Names())
	}
}

// TestNamedDecksInNumbers counts copies: one of each card but in a pinochle
// deck, which has two, and a shoe, which has one for each of its decks.
func TestNamedDecksInNumbers(t *testing.T) {
	t.Parallel()
	if !slices.Equal(slices.Compact(slices.Sorted(slices.Values(Names()))), slices.Sorted(slices.Values(Names()))) {
		t.Errorf("a name is published twice: %q", Names())
	}
	different := map[string]int{"standard-52": 52, "standard-54": 54, "short-36": 36, "pinochle-48": 24,
		"spanish-40": 40}
	for _, name := range Names() {
		d, _ := Named(name)
		copies, kinds := make(map[string]int), 52
		for _, card := range d.Cards() {
			copies[card]++
			if err := CheckCardName(card); err != nil {
				t.Errorf("%s: %q: %v", name, card, err)
			}
		}
		if n, ok := different[name]; ok {
			kinds = n
		}
		if len(copies) != kinds {
			t.Errorf("%s has %d different cards, want %d", name, len(copies), kinds)
		}
		for card, n := range copies {
			if n != d.Len()/kinds {
				t.Errorf("%s has %q %d times, want %d", name, card, n, d.Len()/kinds)
			}
		}
	}
	jokers, _ := Named("standard-54")
	if jokers.Card(52) != "Jr" || jokers.Card(53) != "Jb" {
		t.Errorf("the jokers are %q and %q", jokers.Card(52), jokers.Card(53))
	}
}

func TestNamedRefusesOtherNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"", "standard", "standard-52 ", " standard-52", "Standard-52", "standard-052", "standard-53",
		"shoe", "shoe-", "shoe-0", "shoe-00", "shoe-01", "shoe-17", "shoe-100", "shoe--1", "shoe-+1", "shoe-1 ",
		"shoe- 1", "shoe-1.0", "shoe-0x1", "shoe-1_0", "shoe-٣", "shoe-99999999999999999999", "1", "-1", "SHOE-1",
		"short-36\x00", "pinochle-80", "spanish-48",
	} {
		if d, ok := Named(name); ok || d.Len() != 0 || d.Name() != "" {
			t.Errorf("%q names a deck of %d cards", name, d.Len())
		}
	}
}

func TestNewDeckCounts(t *testing.T) {
	t.Parallel()
	cards := slices.Repeat([]string{"blank"}, MaxCards+1)
	for n, ok := range map[int]bool{0: false, 1: false, 2: true, 52: true, MaxCards: true, MaxCards + 1: false} {
		d, err := NewDeck(cards[:n])
		if (err == nil) != ok {
			t.Errorf("a deck of %d cards: %v", n, err)
		}
		if ok && (d.Len() != n || d.Name() != "" || d.Hash() != refDeckHash(cards[:n])) {
			t.Errorf("a deck of %d cards has %d, name %q, hash %x", n, d.Len(), d.Name(), d.Hash())
		}
		if !ok && d.Len() != 0 {
			t.Errorf("a refused deck of %d cards has %d", n, d.Len())
		}
	}
	if _, err := NewDeck(nil); err == nil {
		t.Error("a deck of nil is accepted")
	}
}

func TestNewDeckNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		ok   bool
	}{
		{"A", true}, {"As", true}, {"10♠", true}, {"🂡", true}, {"é", true}, {"two words", true}, {"~", true},
		{"\"\\", true},
		{strings.Repeat("x", 64), true}, {strings.Repeat("é", 32), true},
		{"", false}, {strings.Repeat("x", 65), false}, {strings.Repeat("é", 33), false},
		{" ", false}, {" A", false}, {"A ", false},
		{"\x00", false}, {"A\x00s", false}, {"A\n", false}, {"\tA", false}, {"A\x1bB", false}, {"A\x1f", false},
		{"A\x7f", false},
		{"A\u0080", false}, {"A\u0085B", false}, {"\u009f", false},
		{"\xff", false}, {"A\x80", false}, {"\xc0\x80", false}, {"\xed\xa0\x80", false}, {"\xe2\x99", false},
		{"\xf4\x90\x80\x80", false},
	} {
		for i := range 3 { // a bad name is found wherever it stands
			cards := []string{"a", "b", "c"}
			cards[i] = c.name
			if d, err := NewDeck(cards); (err == nil) != c.ok || (err != nil && d.Len() != 0) {
				t.Errorf("card name %q at %d: %v, want ok %v", c.name, i, err, c.ok)
			}
		}
	}
}

// TestDeckHashIsTheOrdersOwn: the hash covers count, order and where one name
// ends and the next begins, and nothing else.
func TestDeckHashIsTheOrdersOwn(t *testing.T) {
	t.Parallel()
	seen := make(map[[32]byte][]string)
	for _, cards := range [][]string{
		{"a", "b"}, {"b", "a"}, {"a", "a"}, {"a", "b", "a"}, {"ab", "c"}, {"a", "bc"}, {"abc", "c"}, {"a\u0301", "b"},
		{"\u00e1", "b"},
	} {
		d, err := NewDeck(cards)
		must(t, err)
		if other, ok := seen[d.Hash()]; ok {
			t.Errorf("%q and %q have one hash", cards, other)
		}
		if d.Hash() != refDeckHash(cards) {
			t.Errorf("%q has hash %x, want %x", cards, d.Hash(), refDeckHash(cards))
		}
		seen[d.Hash()] = cards
	}
	standard, _ := Named("standard-52")
	shoe, _ := Named("shoe-1")
	custom, err := NewDeck(standard.Cards())
	if err != nil || standard.Hash() != shoe.Hash() || standard.Hash() != custom.Hash() {
		t.Errorf("one order has several hashes (%v)", err)
	}
}

// TestDeckIsNobodyElses: a deck cannot be changed through what it was made from, or through what it gave away.
func TestDeckIsNobodyElses(t *testing.T) {
	t.Parallel()
	cards := []string{"a", "b", "c"}
	d, err := NewDeck(cards)
	must(t, err)
	hash := d.Hash()
	cards[0] = "x"
	d.Cards()[1] = "x"
	if d.Hash() != hash || d.Card(0) != "a" || d.Card(1) != "b" {
		t.Errorf("the deck became %q", d.Cards())
	}
	names := Names()
	names[0] = "x"
	if Names()[0] != "standard-52" {
		t.Error("the list of names can be changed")
	}
}

func TestPublishedByHash(t *testing.T) {
	for _, name := range Names() {
		d, _ := Named(name)
		got, ok := Published(d.Hash())
		if !ok || !slices.Equal(got.Cards(), d.Cards()) {
			t.Errorf("%s is not found by its hash", name)
		}
	}
	custom, err := NewDeck([]string{"a", "b"})
	must(t, err)
	if d, ok := Published(custom.Hash()); ok {
		t.Errorf("a custom deck is published as %s", d.Name())
	}
}

// TestInvisible: no white space, control or format character and nothing that shows nothing is in a name, as Go's
// version of Unicode has them.
func TestInvisible(t *testing.T) {
	t.Parallel()
	tables := []*unicode.RangeTable{unicode.White_Space, unicode.Cc, unicode.Cf, unicode.Variation_Selector,
		unicode.Other_Default_Ignorable_Code_Point}
	for r := range unicode.MaxRune {
		if r != ' ' && unicode.In(r, tables...) && CheckCardName("a"+string(r)+"b") == nil {
			t.Errorf("U+%04X is in a name", r)
		}
	}
}
