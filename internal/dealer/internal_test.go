package dealer

import (
	"context"
	"testing"

	"shuffled/internal/shuffle"
)

// TestAllows: which decks a ledger commits by its settings.
func TestAllows(t *testing.T) {
	t.Parallel()
	own, err := shuffle.NewDeck([]string{"a", "b", "c"})
	if err != nil {
		t.Fatal(err)
	}
	standard, _ := shuffle.Named("standard-52")
	all := []shuffle.Deck{standard, shuffle.Positions(52), own}
	for _, c := range []struct {
		production bool
		decks      []string
		want       [3]bool // of all
	}{
		{false, nil, [3]bool{true, true, true}},
		{true, nil, [3]bool{true, false, false}},
		{true, []string{AnyDeck}, [3]bool{true, true, true}},
		{true, []string{"shoe-1", base64Of(own)}, [3]bool{true, false, true}}, // shoe-1 is standard-52
		{false, []string{"positions-52"}, [3]bool{false, true, false}},
	} {
		for i, deck := range all {
			if got := allows(c.decks, c.production, deck); got != c.want[i] {
				t.Errorf("production %t, decks %q: deck %d: %t", c.production, c.decks, i, got)
			}
		}
	}
}

// TestRoundPanics: a panic of one operation reaches the caller of the batch, when the others have ended.
func TestRoundPanics(t *testing.T) {
	t.Parallel()
	ended := make([]bool, 3)
	defer func() {
		if got := recover(); got != "operation 1" || !ended[0] || !ended[2] {
			t.Errorf("panicked with %v; ended: %v", got, ended)
		}
	}()
	new(Dealer).Round(t.Context(), len(ended), true, func(_ context.Context, at int) error {
		if at == 1 {
			panic("operation 1")
		}
		ended[at] = true
		return nil
	})
	t.Error("no panic")
}
