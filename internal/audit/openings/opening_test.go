package openings

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit/spec"
	"shuffled/internal/shuffle"
)

func treeOf(c spec.Committed, n int) *DeckTree {
	return NewDeckTree(c.Tag, c.Values[:n], c.Salts[:32*n])
}

// TestDeckRoot holds deck roots against the recursive definition for every
// small size and the largest, and openings against its paths.
func TestDeckRoot(t *testing.T) {
	t.Parallel()
	c := spec.NewCommitted(4096)
	for n := 1; n <= 300; n++ {
		tree := treeOf(c, n)
		if root := tree.Root(); !bytes.Equal(root[:], spec.Root(c.Leaves[:n])) {
			t.Fatalf("the root of %d positions is %x", n, root)
		}
		positions := []int{0, n / 3, n / 2, n - 1}
		if n <= 70 {
			positions = nil
			for p := range n {
				positions = append(positions, p)
			}
		}
		for _, p := range positions {
			holdOpening(t, c, tree, n, p)
		}
	}
	tree := treeOf(c, 4096)
	if root := tree.Root(); !bytes.Equal(root[:], spec.Root(c.Leaves)) {
		t.Fatalf("the root of 4096 positions is %x", root)
	}
	for _, p := range []int{0, 1, 2047, 2048, 4094, 4095} {
		holdOpening(t, c, tree, 4096, p)
	}
}

func holdOpening(t *testing.T, c spec.Committed, tree *DeckTree, n, p int) {
	t.Helper()
	o := tree.Open(p)
	if o.Position != p || o.Value != c.Values[p] || !bytes.Equal(o.Salt[:], c.Salts[32*p:32*p+32]) {
		t.Fatalf("position %d of %d opens as %d, %d, %x", p, n, o.Position, o.Value, o.Salt)
	}
	if !slices.EqualFunc(spec.Hashes(o.Proof), spec.Path(p, c.Leaves[:n]), bytes.Equal) {
		t.Fatalf("position %d of %d has the path %x", p, n, o.Proof)
	}
}

// TestOpeningsElsewhere: both x/mod and transparency-dev accept every opening that is tried.
func TestOpeningsElsewhere(t *testing.T) {
	t.Parallel()
	c := spec.NewCommitted(4096)
	for _, n := range []int{100, 512, 513, 1000, 4096} {
		tree := treeOf(c, n)
		for _, p := range []int{0, 1, n / 2, n - 2, n - 1, (n * 7919) % n} {
			acceptOpening(t, c, tree.Open(p), tree.Root(), n)
		}
	}
	for n := 1; n <= 40; n++ {
		tree := treeOf(c, n)
		for p := range n {
			acceptOpening(t, c, tree.Open(p), tree.Root(), n)
		}
	}
}

// acceptOpening: the package, x/mod and transparency-dev accept the opening, the latter two from the reference's leaf.
func acceptOpening(t *testing.T, c spec.Committed, o Opening, root tlog.Hash, n int) {
	t.Helper()
	p := o.Position
	if err := o.Check(c.Tag, root, n); err != nil {
		t.Fatalf("position %d of %d: %v", p, n, err)
	}
	if err := tlog.CheckRecord(o.Proof, int64(n), root, int64(p), tlog.Hash(c.Leaves[p])); err != nil {
		t.Fatalf("x/mod refuses position %d of %d: %v", p, n, err)
	}
	if err := proof.VerifyInclusion(rfc6962.DefaultHasher, uint64(p), uint64(n), c.Leaves[p], spec.Hashes(o.Proof),
		root[:]); err != nil {
		t.Fatalf("transparency-dev refuses position %d of %d: %v", p, n, err)
	}
}

// TestOpeningFails: an opening with anything in it exchanged is refused.
func TestOpeningFails(t *testing.T) {
	t.Parallel()
	c := spec.NewCommitted(70)
	for n := 1; n <= 66; n++ {
		tree := treeOf(c, n)
		for p := 0; p < n; p += 1 + n/20 {
			for what, damage := range openingDamage(tree, p) {
				o, root := tree.Open(p), tree.Root()
				damage(&o, &root)
				if err := o.Check(c.Tag, root, n); !errors.Is(err, ErrOpening) {
					t.Errorf("position %d of %d with %s: %v", p, n, what, err)
				}
			}
			for _, m := range []int{-1, 0, 1, p - 1, p} {
				if err := tree.Open(p).Check(c.Tag, tree.Root(), m); m <= p && !errors.Is(err, ErrOpening) {
					t.Errorf("position %d of %d as one of %d: %v", p, n, m, err)
				}
			}
		}
	}
}

func openingDamage(tree *DeckTree, p int) map[string]func(*Opening, *tlog.Hash) {
	n := len(tree.Values)
	damage := map[string]func(*Opening, *tlog.Hash){
		"position −1":     func(o *Opening, _ *tlog.Hash) { o.Position = -1 },
		"position m":      func(o *Opening, _ *tlog.Hash) { o.Position = n },
		"position + 2^16": func(o *Opening, _ *tlog.Hash) { o.Position += 1 << 16 },
		"value + 1":       func(o *Opening, _ *tlog.Hash) { o.Value++ },
		"value − 1":       func(o *Opening, _ *tlog.Hash) { o.Value-- },
		"value + 2^24":    func(o *Opening, _ *tlog.Hash) { o.Value += 1 << 24 },
		"no salt":         func(o *Opening, _ *tlog.Hash) { o.Salt = [32]byte{} },
		"another root":    func(_ *Opening, root *tlog.Hash) { root[31]++ },
		"a zero root":     func(_ *Opening, root *tlog.Hash) { *root = tlog.Hash{} },
		"a longer path":   func(o *Opening, _ *tlog.Hash) { o.Proof = append(o.Proof, tlog.Hash{}) },
		"a path that goes on": func(o *Opening, root *tlog.Hash) {
			*root = tlog.Hash(spec.Node(root[:], o.Salt[:]))
			o.Proof = append(o.Proof, o.Salt)
		},
	}
	for q := range n {
		if q != p {
			damage[fmt.Sprintf("position %d", q)] = func(o *Opening, _ *tlog.Hash) { o.Position = q }
		}
	}
	for i := range 32 {
		damage[fmt.Sprintf("salt byte %d", i)] = func(o *Opening, _ *tlog.Hash) { o.Salt[i] ^= 1 << (i % 8) }
	}
	for i := range tree.Open(p).Proof {
		damage[fmt.Sprintf("path hash %d changed", i)] = func(o *Opening, _ *tlog.Hash) { o.Proof[i][i] ^= 0x80 }
		damage[fmt.Sprintf("path hash %d missing", i)] = func(o *Opening, _ *tlog.Hash) {
			o.Proof = slices.Delete(o.Proof, i, i+1)
		}
		damage[fmt.Sprintf("path hash %d twice", i)] = func(o *Opening, _ *tlog.Hash) {
			o.Proof = slices.Insert(o.Proof, i, o.Proof[i])
		}
		if i > 0 {
			damage[fmt.Sprintf("path hashes %d and %d exchanged", i-1, i)] = func(o *Opening, _ *tlog.Hash) {
				o.Proof[i-1], o.Proof[i] = o.Proof[i], o.Proof[i-1]
			}
		}
	}
	return damage
}

// TestOpeningOfAnotherShuffle: a leaf is of one commitment under one context, though
// position, value, salt and path are those of another tree.
func TestOpeningOfAnotherShuffle(t *testing.T) {
	t.Parallel()
	c := spec.NewCommitted(52)
	tree, commitment, context := treeOf(c, 52), spec.BytesOf("commitment", 32), spec.BytesOf("context", 52)
	for what, tag := range map[string]Tag{
		"another commitment": LeafTag([32]byte(spec.BytesOf("other", 32)), context),
		"another context":    LeafTag([32]byte(commitment), spec.BytesOf("other", 52)),
		"a longer context":   LeafTag([32]byte(commitment), append(context, 0)),
		"no context":         LeafTag([32]byte(commitment), nil),
		"no tag":             {},
	} {
		if err := tree.Open(17).Check(tag, tree.Root(), 52); !errors.Is(err, ErrOpening) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for i := range c.Tag {
		tag := c.Tag
		tag[i] ^= 1 << (i % 8)
		if err := tree.Open(17).Check(tag, tree.Root(), 52); !errors.Is(err, ErrOpening) {
			t.Errorf("another byte %d of the tag: %v", i, err)
		}
	}
}

// TestOpeningUnderAnotherCount: a path says nothing of m but its own shape. An opening under another m is accepted
// exactly where the definition accepts it: where position and that m demand a path of the same sides. m itself comes
// from the commit, whose context the commitment covers.
func TestOpeningUnderAnotherCount(t *testing.T) {
	t.Parallel()
	c := spec.NewCommitted(70)
	accepted, refused := 0, 0
	for n := 1; n <= 40; n++ {
		tree := treeOf(c, n)
		root := tree.Root()
		for p := range n {
			o := tree.Open(p)
			for m := range 70 {
				want := spec.Opens(c.Tag[:], root[:], m, p, o.Value, o.Salt[:], spec.Hashes(o.Proof))
				if err := o.Check(c.Tag, root, m); (err == nil) != want {
					t.Fatalf("position %d of %d as one of %d: %v, by definition %t", p, n, m, err, want)
				} else if m != n && want {
					accepted++
				} else if m != n {
					refused++
				}
			}
		}
	}
	if accepted == 0 || refused < accepted {
		t.Errorf("%d accepted, %d refused under another count", accepted, refused)
	}
	// The last position is on the right edge: there the shape tells sizes of different form apart.
	if err := treeOf(c, 5).Open(4).Check(c.Tag, treeOf(c, 5).Root(), 6); !errors.Is(err, ErrOpening) {
		t.Errorf("the last of 5 as one of 6: %v", err)
	}
}

// TestDeckRootIsTlogs: both functions give the root of tlog's tree for every number of positions.
func TestDeckRootIsTlogs(t *testing.T) {
	most := shuffle.MaxCards
	if testing.Short() {
		most = 300
	}
	tape := spec.BytesOf("tape", 300)
	for n := 1; n <= most; n++ {
		if n > 260 && n%97 != 0 && n&(n-1) != 0 && (n+1)&n != 0 && n != most {
			continue
		}
		var commitment [32]byte
		binary.BigEndian.PutUint32(commitment[5:], uint32(n))
		commitment = sha256.Sum256(commitment[:])
		tape := tape[:1+n%len(tape)]
		context := spec.BytesOf("context", n%70)
		tag := LeafTag(commitment, context)
		salts := Salts(commitment, tape, n)
		values := make([]uint32, n)
		var nodes []tlog.Hash
		for p := range values {
			values[p] = uint32(p)*2654435761 + uint32(n)
			more, err := tlog.StoredHashesForRecordHash(int64(p), leafHash(tag, p, values[p], salts[32*p:]),
				storedHashes(nodes))
			if err != nil {
				t.Fatal(err)
			}
			nodes = append(nodes, more...)
		}
		want, err := tlog.TreeHash(int64(n), storedHashes(nodes))
		if err != nil {
			t.Fatal(err)
		}
		if got := DeckRoot(commitment, context, tape, values); got != want {
			t.Fatalf("%d positions: root %v, want %v", n, got, want)
		}
		if got := NewDeckTree(tag, values, salts).Root(); got != want {
			t.Fatalf("%d positions: root %v of the tree, want %v", n, got, want)
		}
	}
}

// storedHashes reads nodes in tlog's storage order.
type storedHashes []tlog.Hash

func (r storedHashes) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	out := make([]tlog.Hash, len(indexes))
	for i, x := range indexes {
		out[i] = r[x]
	}
	return out, nil
}
