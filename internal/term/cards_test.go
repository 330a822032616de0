package term

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
	custom := []string{"green", "Ace of cups", "漢字", "\x1b[31mred", "a\u202eb", "x\xff", strings.Repeat("long ", 10) +
		"name"}
	hands := []Hand{
		{"standard-54", StyleOf(deck("standard-54")).Faces(deck("standard-54")[:14])},
		{"jokers", StyleOf(deck("standard-54")).Faces([]string{"Kh", "Qd", "Jc", "Jr", "Jb"})},
		{"spanish-40", StyleOf(deck("spanish-40")).Faces([]string{"1o", "2b", "Ce", "7c", "Rc"})},
		{"custom", StyleOf(custom).Faces(custom)},
		{"hidden", []Face{Back, Back}},
		{"none", nil},
	}
	got := DrawHands(Painter{}, hands, 80)
	path := filepath.Join("testdata", "cards.golden")
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s changed; look at it, and if it is right: UPDATE_GOLDEN=1 go test (-want +got):\n%s", path, diff)
	}
	for line := range strings.Lines(got) {
		if n := Cells(strings.TrimRight(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	coloured := strings.Join(drawCards(Painter{on: true}, French.Faces([]string{"As", "Kh"}), 80), "\n")
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
		want Style
	}{
		"stripped": {stripped, French},
		"custom":   {[]string{"As", "Kd", "green"}, Plain},
		"empty":    {nil, Plain},
	}
	for name, test := range tests {
		if got := StyleOf(test.deck); got != test.want {
			t.Errorf("%s: style %d, want %d", name, got, test.want)
		}
	}
	for _, name := range shuffle.Names() {
		d, _ := shuffle.Named(name)
		want := French
		if name == "spanish-40" {
			want = Spanish
		}
		if got := StyleOf(d.Cards()); got != want {
			t.Errorf("%s: style %d, want %d", name, got, want)
		}
		if got := StyleOfHash(d.Hash()); got != want {
			t.Errorf("%s by its hash: style %d, want %d", name, got, want)
		}
	}
}
