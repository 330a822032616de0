package dealer

import (
	"bytes"
	"slices"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/shuffle"
)

// TestHeld: what is held of a shuffle opens to what the tape gives. What was changed, is of another shuffle, or was
// sealed by another process opens nothing, and the sealed tape serves.
func TestHeld(t *testing.T) {
	t.Parallel()
	for _, recipe := range []shuffle.Recipe{{Cards: 2, Take: 2}, {Cards: 52, Take: 52},
		{Cards: 312, Take: 200, EndLo: 100, EndHi: 150}, {Ranges: []uint32{6, 1 << 30, 37}}} {
		tape := bytes.Repeat([]byte("0123456789abcdef"), 400)[:recipe.TapeLen()]
		out, err := recipe.Run(tape)
		if err != nil {
			t.Fatal(err)
		}
		c := &audit.Commit{Context: &audit.Context{Origin: "casino.example/main", Recipe: recipe},
			Commitment: [32]byte{byte(recipe.Cards)}}
		made := &opened{tape: tape, values: out.Values, endAt: out.EndAt,
			tree: audit.DeckOf(c.Commitment, []byte("context"), tape, out.Values)}
		c.DeckRoot = made.tree.Root()
		k := newRecent()
		held := func(id uint64) *record {
			r := &record{id: id, commit: c}
			k.records.Add(id, r)
			k.hold(id, c, made)
			r, _ = k.records.Peek(id)
			return r
		}
		r := held(7)
		for range 2 {
			got := k.open(r)
			if got == nil || !bytes.Equal(got.tape, tape) || !slices.Equal(got.values, out.Values) ||
				got.endAt != out.EndAt || !bytes.Equal(got.tree.Salts, made.tree.Salts) ||
				!slices.Equal(got.tree.Nodes, made.tree.Nodes) {
				t.Fatalf("%+v: another shuffle was held: %+v", recipe, got)
			}
			got.wipe()
		}
		if bytes.Contains(r.held, tape[:16]) {
			t.Errorf("%+v: the tape is held in the clear", recipe)
		}
		for name, foul := range map[string]func(*record){
			"a bit":        func(r *record) { r.held = bytes.Clone(r.held); r.held[20] ^= 1 },
			"cut short":    func(r *record) { r.held = r.held[:len(r.held)-1] },
			"nothing":      func(r *record) { r.held = nil },
			"another root": func(r *record) { other := *c; other.DeckRoot[0] ^= 1; r.commit = &other },
			"of another":   func(r *record) { other := *c; other.Commitment[0] ^= 1; r.commit = &other },
		} {
			bad := r.grown()
			foul(bad)
			k.records.Add(bad.id, bad)
			if got := k.open(bad); got != nil {
				t.Errorf("%+v: %s opens", recipe, name)
			}
			k.records.Add(r.id, r)
		}
		k.ring = newRecent().ring // of another process
		if k.open(r) != nil {
			t.Errorf("%+v: what another process sealed opens", recipe)
		}
	}
}
