package ledger_test

import (
	"errors"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
	"shuffled/internal/keys"
	"shuffled/internal/ledger"
)

func newLongKey(t *testing.T) (*keys.MLDSAKey, *audit.Key) {
	t.Helper()
	k, err := keys.GenerateMLDSA(origin)
	if err != nil {
		t.Fatal(err)
	}
	return k, &audit.Key{Subject: audit.SubjectSigning, Public: k.Public()}
}

// signedWith holds the newest checkpoint against what signs it.
func signedWith(t *testing.T, l *ledger.Ledger, lines int, keys ...note.Verifier) {
	t.Helper()
	head := l.Head()
	if _, err := audit.OpenCheckpoint(head.Checkpoint, keys...); err != nil {
		t.Errorf("size %d: %v", head.Size, err)
	}
	if n := strings.Count(string(head.Checkpoint), "\n— "); n != lines {
		t.Errorf("size %d: %d signatures, want %d", head.Size, n, lines)
	}
}

// TestMLDSA: a ledger takes a key of ML-DSA-44 alongside that of Ed25519, signs every
// checkpoint with both, replaces either, and goes on from each after a restart.
func TestMLDSA(t *testing.T) {
	onBoth(t, func(t *testing.T, h *house) {
		first, enter := newLongKey(t)
		second, replace := newLongKey(t)
		ed := newSigningKey(t)
		c := h.holding("mark", h.signer, first.At(0), second.At(0), ed)
		l := h.open(c)
		h.must(l, propose(commit("before", l.Head().Size)))
		signedWith(t, l, 1, h.key)
		old := l.Head()
		h.must(l, propose(enter))
		signedWith(t, l, 2, h.key, first.Verifier())
		h.must(l, propose(commit("both", l.Head().Size)))
		signedWith(t, l, 2, h.key, first.Verifier())
		h.must(l, propose(replace))
		signedWith(t, l, 3, h.key, second.Verifier())
		signedWith(t, l, 3, h.key, first.Verifier())
		h.must(l, propose(commit("second", l.Head().Size)))
		signedWith(t, l, 2, h.key, second.Verifier())
		before := h.key
		h.must(l, propose(ed.rotation()))
		signedWith(t, l, 3, before, second.Verifier())
		signedWith(t, l, 3, ed.key, second.Verifier())
		h.key = ed.key
		_, err := audit.OpenCheckpoint(old.Checkpoint, before, first.Verifier())
		if !errors.Is(err, audit.ErrSignature) {
			t.Errorf("a checkpoint from before with both keys pinned: %v", err)
		}
		size := l.Head().Size
		l.Close()
		l = h.open(c)
		if l.Head().Size < size {
			t.Errorf("size %d after a restart, was %d", l.Head().Size, size)
		}
		h.must(l, propose(commit("again", l.Head().Size)))
		signedWith(t, l, 2, ed.key, second.Verifier())
		texts, err := l.Handovers(t.Context(), l.Head())
		if err != nil || len(texts) != 3 {
			t.Errorf("%d hand-overs: %v", len(texts), err)
		}
		l.Close()

		// Without the key of ML-DSA-44 nothing is signed, and reads go on.
		l = h.open(h.holding("mark", ed))
		_, err = on(l).Append(t.Context(), propose(commit("alone", l.Head().Size)))
		if !errors.Is(err, ledger.ErrNoKey) {
			t.Errorf("without the key: %v", err)
		}
	})
}

// TestMLDSAStays: a key of ML-DSA-44 in force is not retired.
func TestMLDSAStays(t *testing.T) {
	onBoth(t, func(t *testing.T, h *house) {
		first, enter := newLongKey(t)
		second, replace := newLongKey(t)
		l := h.open(h.holding("mark", h.signer, first.At(0), second.At(0)))
		h.must(l, propose(enter))
		retire := propose(&audit.Key{Subject: audit.SubjectRetirement, Retired: audit.SubjectSigning,
			ID: audit.KeyID(first.Public())})
		var illegal *audit.Illegal
		if _, err := on(l).Append(t.Context(), retire); !errors.As(err, &illegal) || illegal.Code != audit.RuleKey {
			t.Errorf("in force: %v", err)
		}
		if _, err := on(l).Append(t.Context(), propose(enter)); !errors.As(err, &illegal) {
			t.Errorf("the same key twice: %v", err)
		}
		h.must(l, propose(replace))
		h.must(l, retire)
	})
}
