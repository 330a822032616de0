package bundle_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
	"shuffled/internal/bundle"
)

// long is a ledger with a key of ML-DSA-44, whose newest key entries are so many of Ed25519; below zero: of ML-DSA-44.
func long(t *testing.T, newest int) *house {
	h := rich(t, 300)
	h.rotateLong()
	for range newest {
		h.rotate()
	}
	for range -newest {
		h.rotateLong()
	}
	h.grow(int(h.size()) + 3)
	return h
}

// TestBothAlgorithms: a checkpoint that lacks the line of one of the keys in force is not
// published, whichever came last, and however many came after the other.
func TestBothAlgorithms(t *testing.T) {
	t.Parallel()
	for _, newest := range []int{0, -1, 1, 2, bundle.Width - 3, bundle.Width, bundle.Width + 9} {
		h, dir := long(t, newest), t.TempDir()
		lacks := func(name string, signers ...note.Signer) {
			t.Helper()
			all := h.heads
			h.heads = append(clone(all), h.checkpoint(h.size(), signers...))
			before := files(t, dir)
			for _, dir := range []string{dir, t.TempDir()} {
				_, err := h.export(dir)
				want := fmt.Sprintf("the store contradicts itself: the checkpoint of size %d lacks the signature of the %s key in force: ",
					h.size(), name)
				if !errors.Is(err, bundle.ErrContradiction) || !strings.HasPrefix(err.Error(), want) {
					t.Errorf("%d keys later, without %s: %v", newest, name, err)
				}
			}
			if now := files(t, dir); now["checkpoint"] != before["checkpoint"] {
				t.Errorf("%d keys later, without %s: the checkpoint is another", newest, name)
			}
			h.heads = all
		}
		for range 2 { // an export that begins, and two that go on
			lacks("ML-DSA-44", h.signer)
			lacks("Ed25519", h.long)
			h.mustExport(dir)
			same(t, dir, h.fresh())
			h.grow(int(h.size()) + 2)
		}
		h.cosigned = append(h.cosigned, h.checkpoint(h.size(), h.signer, h.witness))
		if _, err := h.export(dir); !errors.Is(err, bundle.ErrContradiction) {
			t.Errorf("%d keys later, cosigned without ML-DSA-44: %v", newest, err)
		}
	}
}

// TestDamagedLine: an export adds nothing to a bundle whose checkpoint lacks the line of a
// key in force, whichever came last.
func TestDamagedLine(t *testing.T) {
	t.Parallel()
	for _, newest := range []int{-1, 0, 1} {
		for _, mldsa := range []bool{false, true} {
			h, dir := long(t, newest), t.TempDir()
			h.mustExport(dir)
			var line string
			for l := range strings.SplitAfterSeq(string(h.heads[len(h.heads)-1].signed), "\n") {
				if strings.HasPrefix(l, "— ") && len(l) > 1000 == mldsa {
					line = l
				}
			}
			edit(t, filepath.Join(dir, "checkpoint"), line, "")
			if c, err := audit.CheckpointText([]byte(files(t, dir)["checkpoint"])); err != nil || c.Size != h.size() {
				t.Fatal(err)
			}
			h.grow(int(h.size()) + 1)
			if _, err := h.export(dir); !errors.Is(err, bundle.ErrDamaged) {
				t.Errorf("%d keys later, without the line of ML-DSA-44, %t: %v", newest, mldsa, err)
			}
		}
	}
}

// TestWeakKey: an entry whose signing key is weak is not reported as a missing line.
func TestWeakKey(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.add(&audit.Key{Subject: audit.SubjectSigning, Public: append([]byte{1}, make([]byte, 32)...)})
	h.sign()
	want := "the store contradicts itself: the Ed25519 key in force at size 2 is not a valid key: "
	if _, err := h.export(t.TempDir()); !errors.Is(err, bundle.ErrContradiction) ||
		!strings.HasPrefix(err.Error(), want) {
		t.Errorf("exported: %v", err)
	}
}
