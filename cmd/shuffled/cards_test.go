package main

import (
	"strings"
	"testing"

	"shuffled/internal/shuffle"
)

// TestDrawnCards holds the drawings against text that a person has looked at.
func TestDrawnCards(t *testing.T) {
	t.Parallel()
	deck := func(name string) []string {
		d, ok := shuffle.Named(name)
		if !ok {
			t.Fatalf("no deck %s", name)
		}
		return d.Cards()
	}
	custom := []string{"green", "Ace of cups", "漢字", "\x1b[31mred", "a\u202eb", "x\xff", strings.Repeat("long ", 10) + "name"}
	hands := []hand{
		{"standard-54", styleOf(deck("standard-54")).faces(deck("standard-54")[:14])},
		{"jokers", styleOf(deck("standard-54")).faces([]string{"Kh", "Qd", "Jc", "Jr", "Jb"})},
		{"spanish-40", styleOf(deck("spanish-40")).faces([]string{"1o", "2b", "Ce", "7c", "Rc"})},
		{"custom", styleOf(custom).faces(custom)},
		{"hidden", []face{back, back}},
		{"none", nil},
	}
	got := drawHands(painter{}, hands, 80)
	golden(t, "cards.golden", got)
	for line := range strings.Lines(got) {
		if n := cells(strings.TrimRight(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	coloured := strings.Join(drawCards(painter{on: true}, french.faces([]string{"As", "Kh"}), 80), "\n")
	if !strings.Contains(coloured, "\x1b[31m K♥ \x1b[0m") || strings.Contains(coloured, "\x1b[31m A♠") {
		t.Errorf("hearts are red and spades are not: %q", coloured)
	}
}

func TestStyleOfDecks(t *testing.T) {
	t.Parallel()
	// A French deck stripped to 40 cards has the indices of a Spanish one.
	stripped := []string{}
	for _, s := range "shdc" {
		for _, r := range "A234567JQK" {
			stripped = append(stripped, string(r)+string(s))
		}
	}
	tests := map[string]struct {
		deck []string
		want style
	}{
		"stripped": {stripped, french},
		"custom":   {[]string{"As", "Kd", "green"}, plain},
		"empty":    {nil, plain},
	}
	for name, test := range tests {
		if got := styleOf(test.deck); got != test.want {
			t.Errorf("%s: style %d, want %d", name, got, test.want)
		}
	}
	for _, name := range shuffle.Names() {
		d, _ := shuffle.Named(name)
		want := french
		if name == "spanish-40" {
			want = spanish
		}
		if got := styleOf(d.Cards()); got != want {
			t.Errorf("%s: style %d, want %d", name, got, want)
		}
		if got := styleOfHash(d.Hash()); got != want {
			t.Errorf("%s by its hash: style %d, want %d", name, got, want)
		}
	}
}
