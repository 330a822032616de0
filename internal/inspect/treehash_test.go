package inspect

import (
	"crypto/sha256"
	"encoding/binary"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/shuffle"
)

// TestTreeHasher holds the fast tree against the plain one, for every number of positions up to 260 and some more, with
// buffers that were used before, and without the shortcut.
func TestTreeHasher(t *testing.T) {
	t.Parallel()
	if !fastTrees() {
		t.Error("the state of SHA-256 is not where it is expected: deck roots are right, but slow")
	}
	fast, plain := newTreeHasher(), new(treeHasher)
	for n := shuffle.MaxCards; n >= 1; n-- {
		if n > 260 && n%397 != 0 && n&(n-1) != 0 && (n+1)&n != 0 {
			continue
		}
		commitment := sha256.Sum256(binary.BigEndian.AppendUint32(nil, uint32(n)))
		tape, values := commitment[:], make([]uint32, n)
		for p := range values {
			values[p] = uint32(p)*2654435761 + uint32(n)
		}
		context := binary.BigEndian.AppendUint32(nil, uint32(n))
		want := audit.DeckRoot(commitment, context, tape, values)
		if got := fast.deckRoot(commitment, context, tape, values); got != want {
			t.Fatalf("%d positions: root %v, want %v", n, got, want)
		}
		if got := plain.deckRoot(commitment, context, tape, values); got != want {
			t.Fatalf("%d positions: root %v without the shortcut, want %v", n, got, want)
		}
	}
}

// TestTreeHasherNodes: a node's hash may take the place of its left part.
func TestTreeHasherNodes(t *testing.T) {
	t.Parallel()
	left, right := tlog.RecordHash([]byte("left")), tlog.RecordHash([]byte("right"))
	for name, hasher := range map[string]*treeHasher{"fast": fastTreeHasher(), "plain": new(treeHasher)} {
		got := left
		for range 3 {
			want := tlog.NodeHash(got, right)
			if hasher.nodeHash(&got, &got, &right); got != want {
				t.Errorf("%s: %v, want %v", name, got, want)
			}
		}
	}
}
