package record

import (
	"bytes"
	"slices"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/seal"
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
		made := &Opened{Tape: tape, Values: out.Values, EndAt: out.EndAt,
			Tree: openings.DeckOf(c.Commitment, []byte("context"), tape, out.Values)}
		c.DeckRoot = made.Tree.Root()
		k := &Recent{NewCache(), 1}
		held := func(id uint64) *Record {
			r := &Record{ID: id, Commit: c}
			k.records.Add(k.key(id), r)
			k.Hold(id, c, made)
			r, _ = k.records.Peek(k.key(id))
			return r
		}
		r := held(7)
		for range 2 {
			got := k.open(r)
			if got == nil || !bytes.Equal(got.Tape, tape) || !slices.Equal(got.Values, out.Values) ||
				got.EndAt != out.EndAt || !bytes.Equal(got.Tree.Salts, made.Tree.Salts) ||
				!slices.Equal(got.Tree.Nodes, made.Tree.Nodes) {
				t.Fatalf("%+v: another shuffle was held: %+v", recipe, got)
			}
			got.Wipe()
			if len(bytes.Trim(slices.Concat(got.Tape, got.Tree.Salts), "\x00")) > 0 || slices.Max(got.Values) > 0 {
				t.Errorf("%+v: what was opened is not wiped", recipe)
			}
		}
		if bytes.Contains(r.held, tape[:16]) {
			t.Errorf("%+v: the tape is held in the clear", recipe)
		}
		for name, foul := range map[string]func(*Record){
			"a bit":        func(r *Record) { r.held = bytes.Clone(r.held); r.held[20] ^= 1 },
			"cut short":    func(r *Record) { r.held = r.held[:len(r.held)-1] },
			"nothing":      func(r *Record) { r.held = nil },
			"another root": func(r *Record) { other := *c; other.DeckRoot[0] ^= 1; r.Commit = &other },
			"of another":   func(r *Record) { other := *c; other.Commitment[0] ^= 1; r.Commit = &other },
		} {
			bad := r.grown()
			foul(bad)
			k.records.Add(k.key(bad.ID), bad)
			if got := k.open(bad); got != nil {
				t.Errorf("%+v: %s opens", recipe, name)
			}
			k.records.Add(k.key(r.ID), r)
		}
		k.aead = seal.Draw() // of another process
		if k.open(r) != nil {
			t.Errorf("%+v: what another process sealed opens", recipe)
		}
	}
}

// TestNothingBlindFromMemory: what memory has of a blind shuffle may lack entries of other daemons, and a co-dealer
// binds what it opens to the entry before.
func TestNothingBlindFromMemory(t *testing.T) {
	for _, plan := range [][]audit.Planned{nil, {{Source: audit.SourceCoDealer}}} {
		k := &Recent{NewCache(), 1}
		k.records.Add(k.key(7), &Record{ID: 7, Commit: &audit.Commit{Context: &audit.Context{Plan: plan}}})
		if _, found := k.get(7); found != (plan == nil) {
			t.Errorf("with the plan %v the shuffle is dealt from memory: %t", plan, found)
		}
	}
}

// TestCacheIsShared: ledgers share the bytes of a cache, and none sees the shuffles of another.
func TestCacheIsShared(t *testing.T) {
	cache := NewCache()
	one, other := &Recent{cache, 1}, &Recent{cache, 2}
	commit := &audit.Commit{Context: &audit.Context{}}
	one.put(&Record{ID: 7, Commit: commit})
	if _, found := other.get(7); found || other.Forget(7) {
		t.Error("a ledger sees the shuffle of another")
	}
	for id := range uint64(cacheBytes >> 20) {
		other.put(&Record{ID: 100 + id, Commit: commit, held: make([]byte, 1<<20)})
	}
	if _, found := one.get(7); found || cache.bytes > cacheBytes || cache.records.Len() < cacheBytes>>21 {
		t.Errorf("%d records of %d bytes, the oldest is kept: %t", cache.records.Len(), cache.bytes, found)
	}
}
