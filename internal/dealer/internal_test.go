package dealer

import (
	"bytes"
	"context"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/entropy"
	"shuffled/internal/seal"
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

// BenchmarkCommitKernel does all that one commit of 52 cards computes by itself, from the tape to the receipt's text:
// no store, no signature (one for each batch) and no HTTP.
func BenchmarkCommitKernel(b *testing.B) {
	source, err := entropy.New(entropy.Config{})
	if err != nil {
		b.Fatal(err)
	}
	key, err := seal.NewKey([]byte("0123456789abcdef0123456789abcdef"))
	if err != nil {
		b.Fatal(err)
	}
	ring, err := seal.NewKeyring(key)
	if err != nil {
		b.Fatal(err)
	}
	deck, _ := shuffle.Named("standard-52")
	d := &Dealer{cfg: Config{Entropy: source, Keys: ring}}
	c := &audit.Context{Origin: "casino.example/main", Table: "table-7", DeckHash: deck.Hash(),
		Recipe: shuffle.Recipe{Cards: 52, Take: 52}, Disclosure: audit.DisclosurePublic}
	r := audit.Receipt{Index: 1_000_003, Proof: make([]tlog.Hash, 20), Checkpoint: bytes.Repeat([]byte("x"), 180)}
	b.ReportAllocs()
	for b.Loop() {
		commit, _, opened, err := d.commit(c, nil)
		if err != nil {
			b.Fatal(err)
		}
		opened.Wipe()
		commit.KeyTag = audit.KeyTag(c.Origin, "0123456789abcdef", c.Table, "0199a1c2-7b3d-7c11-8e4f-0123456789ab")
		commit.Serial, commit.Previous, commit.CloseBy, commit.GameRef = 1234, 55_555, 1_790_003_600_000, "round-123456"
		actor := audit.Actor{Identity: "0123456789abcdef", Credential: "0123456789abcdef"}
		entry, err := audit.Entry{Time: 1_790_000_000_000, Actor: actor, Body: commit}.Encode()
		if err != nil {
			b.Fatal(err)
		}
		tlog.RecordHash(entry)
		r.Entry = entry
		if r.Text() == "" {
			b.Fatal("no receipt")
		}
	}
}
