package sequencer_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"slices"
	"testing"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
	"shuffled/internal/ledger/sequencer"
)

// TestLyingCache: whatever is made of the cache by somebody who does not hold the signing key, a start knows what all
// entries say, and not more: no administrator, no owner of a shuffle, no signing key.
func TestLyingCache(t *testing.T) {
	t.Parallel()
	h := newHouse(t, openSQLite(t))
	l := h.open(dense(h.config("mark")))
	h.grow(l, "mark", cacheEvery+100)
	small, err := os.ReadFile(h.mark("mark") + ".cache")
	must(t, err)
	h.must(l, ledger.Proposal{Actor: audit.Operator, Bodies: []audit.Body{
		&audit.Credential{Kind: audit.CredentialCreated, ID: "tester", Form: audit.FormToken, Role: audit.RoleDealer,
			Identity: "tester"},
		&audit.Credential{Kind: audit.CredentialCreated, ID: "token-1", Form: audit.FormToken, Role: audit.RoleDealer,
			Identity: "dealer"}}})
	h.grow(l, "mark", 3*cacheEvery)
	l.Close()
	honest, err := os.ReadFile(h.mark("mark") + ".cache")
	must(t, err)
	want := h.remember(dense(h.config("no mark")))
	if len(honest) < 10_000 || bytes.Equal(small, honest) {
		t.Fatalf("a cache of %d bytes", len(honest))
	}

	// Another ledger of the same origin, and the same entries under another key.
	other := newHouse(t, openSQLite(t))
	foreign := other.open(dense(other.config("mark")))
	other.grow(foreign, "mark", cacheEvery+100)
	foreign.Close()
	another, err := os.ReadFile(other.mark("mark") + ".cache")
	must(t, err)
	swapped := func(old, with string) []byte {
		b := bytes.Clone(honest)
		at := bytes.Index(b, []byte(old))
		if at < 0 {
			t.Fatalf("the cache has no %q", old)
		}
		copy(b[at:], with)
		return b
	}
	flipped := func(at int) []byte {
		b := bytes.Clone(honest)
		b[at] ^= 1
		return b
	}
	forged := func(header func(h *sequencer.CacheHeader), signer note.Signer) []byte {
		b, err := sequencer.ForgeCache(honest, header, signer)
		must(t, err)
		return b
	}
	cases := map[string][]byte{
		"none":                     nil,
		"empty":                    {},
		"of another ledger":        another,
		"the dealer is another":    swapped("dealer", "thiefs"),
		"the owner is another":     swapped("tester", "robber"),
		"the first byte":           flipped(0),
		"the last byte of the MAC": flipped(len(honest) - 1),
		"shorter than a MAC":       honest[:20],
		"without its MAC":          honest[:len(honest)-32],
		"without its end":          slices.Concat(honest[:len(honest)-100], honest[len(honest)-32:]),
		"more than its end":        slices.Concat(honest[:len(honest)-32], []byte{0}, honest[len(honest)-32:]),
		"without a stretch":        slices.Concat(honest[:5000], honest[5100:]),
		"a stretch twice":          slices.Concat(honest[:5100], honest[5000:]),
		"two stretches exchanged": slices.Concat(honest[:5000], honest[5100:5200], honest[5000:5100],
			honest[5200:]),
		"a header over another state": slices.Concat(honest[:200], small[200:]),
		"the MAC of another":          slices.Concat(honest[:len(honest)-32], small[len(small)-32:]),
		"of a thief's key":            forged(func(*sequencer.CacheHeader) {}, newSigningKey(t).Signer),
		// And what a daemon of this ledger would not have written at all.
		"of another genesis": forged(func(h *sequencer.CacheHeader) { h.Genesis[0] ^= 1 }, h.signer),
		"of another tree":    forged(func(h *sequencer.CacheHeader) { h.Root[0] ^= 1 }, h.signer),
		"of more entries":    forged(func(h *sequencer.CacheHeader) { h.Size = uint64(want.Size) + 1 }, h.signer),
		"of fewer entries":   forged(func(h *sequencer.CacheHeader) { h.Size-- }, h.signer),
		"of no entries":      forged(func(h *sequencer.CacheHeader) { h.Size = 0 }, h.signer),
	}
	for n := range 40 {
		cases["a bit at "+string(rune('a'+n))] = flipped(n * len(honest) / 40)
	}
	for name, b := range cases {
		if err := os.Remove(h.mark("mark") + ".cache"); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		if b != nil {
			must(t, os.WriteFile(h.mark("mark")+".cache", b, 0o600))
		}
		m := h.remember(dense(h.config("mark")))
		if m.From != 0 {
			t.Errorf("%s: it was believed", name)
		}
		same(t, name, want, m)
	}
	for name, b := range map[string][]byte{"the newest": honest, "an old one": small,
		"made again": forged(func(*sequencer.CacheHeader) {}, h.signer)} {
		must(t, os.WriteFile(h.mark("mark")+".cache", b, 0o600))
		m := h.remember(dense(h.config("mark")))
		if m.From == 0 {
			t.Errorf("%s was not believed", name)
		}
		same(t, name, want, m)
	}
}

// TestCacheAfterRotation: a cache under the key before is not used, and the next one comes with the rotation.
func TestCacheAfterRotation(t *testing.T) {
	t.Parallel()
	h, next := newHouse(t, openSQLite(t)), newSigningKey(t)
	config := dense(h.holding("mark", h.signer, next))
	l := h.open(config)
	h.grow(l, "mark", cacheEvery+100)
	old, err := os.ReadFile(h.mark("mark") + ".cache")
	must(t, err)
	h.rotate(l, next)
	h.must(l, propose(commit("after", 1)))
	waitFor(t, func() bool { return h.cacheSize("mark") > cacheEvery+100 })
	l.Close()
	if m := h.remember(config); m.From <= cacheEvery+100 {
		t.Errorf("the start after the rotation begins at %d", m.From)
	}
	must(t, os.WriteFile(h.mark("mark")+".cache", old, 0o600))
	if m := h.remember(config); m.From != 0 {
		t.Error("a cache under the key before the rotation was believed")
	}
}

// unsigned is a store whose checkpoints lack the signatures of a key.
type unsigned struct {
	ledger.Store
	key note.Verifier
}

func (s unsigned) CheckpointAfter(ctx context.Context, id ledger.ID, index uint64) (ledger.Head, error) {
	h, err := s.Store.CheckpointAfter(ctx, id, index)
	text, lines, _ := bytes.Cut(h.Checkpoint, []byte("\n\n"))
	kept := append(bytes.Clone(text), "\n\n"...)
	for line := range bytes.Lines(lines) {
		one := slices.Concat(text, []byte("\n\n"), line)
		if _, err := audit.OpenCheckpoint(one, s.key); err != nil {
			kept = append(kept, line...)
		}
	}
	h.Checkpoint = kept
	return h, err
}

// TestHandoverWithCache: a key that the one before did not hand on to is nobody's, also
// where the cache is of more entries.
func TestHandoverWithCache(t *testing.T) {
	t.Parallel()
	h, next := newHouse(t, openSQLite(t)), newSigningKey(t)
	old := h.key
	config := dense(h.holding("mark", h.signer, next))
	l := h.open(config)
	h.rotate(l, next)
	h.grow(l, "mark", cacheEvery+100)
	l.Close()
	if m := h.remember(config); m.From == 0 {
		t.Fatal("the honest ledger has no cache")
	}
	config.Store = unsigned{h.store, old}
	if _, err := sequencer.Remember(t.Context(), config); !errors.Is(err, ledger.ErrFrozen) {
		t.Errorf("without the old key's signature: %v", err)
	}
}
