package client

import (
	"errors"
	"slices"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
)

// failing is a state that cannot be kept for a while.
type failing struct {
	broken error
	saved  [][]byte
}

func (*failing) Load() ([]byte, error) { return nil, nil }

func (f *failing) Save(b []byte) error {
	if f.broken != nil {
		return f.broken
	}
	f.saved = append(f.saved, slices.Clone(b))
	return nil
}

// TestSaveAgain: what could not be kept is not taken for kept: the same state is saved with the next answer.
func TestSaveAgain(t *testing.T) {
	t.Parallel()
	full := errors.New("disk full")
	state := &failing{broken: full}
	c := &Client{cfg: Config{State: state}, heads: newHeads()}
	c.heads.add(head{signed: []byte("newest")})
	for range 2 {
		if err := c.save(); !errors.Is(err, full) {
			t.Errorf("a state that cannot be kept: %v", err)
		}
	}
	state.broken = nil
	for range 2 { // the second is the same
		if err := c.save(); err != nil || len(state.saved) != 1 {
			t.Errorf("saved %d times, %v", len(state.saved), err)
		}
	}
}

// TestTwoHeadsOfOneSize: the second of two checkpoints of one size is a fork, be the first one the newest, one that
// waits for its proof, or one that was proved; and it is one every time that it is seen.
func TestTwoHeadsOfOneSize(t *testing.T) {
	t.Parallel()
	at := func(size uint64, root byte) head {
		return head{audit.Checkpoint{Size: size, Root: tlog.Hash{root}}, []byte{byte(size), root}}
	}
	h := newHeads()
	for _, size := range []uint64{3, 5, 9, 7} {
		if other, open := h.add(at(size, 1)); other != nil || !open {
			t.Fatalf("size %d: %v, %v", size, other, open)
		}
	}
	delete(h.loose, 5) // proved
	for range 2 {
		for size, first := range map[uint64]uint64{9: 9, 3: 3, 7: 7, 5: 9} { // what was proved is part of the newest
			other, open := h.add(at(size, 2))
			if other == nil || open || other.Size != first || other.Root != (tlog.Hash{1}) {
				t.Errorf("another root at size %d: %+v, %v", size, other, open)
			}
			if other, _ := h.add(at(size, 1)); other != nil {
				t.Errorf("the first at size %d, after another: %+v", size, other)
			}
		}
	}
	if h.newest.Size != 9 || h.newest.Root != (tlog.Hash{1}) || len(h.loose) != 2 {
		t.Errorf("the newest is %+v, and %d wait", h.newest.Checkpoint, len(h.loose))
	}
}
