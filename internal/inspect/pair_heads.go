package inspect

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
)

// claim is a checkpoint of the other ledger that an entry of one ledger holds.
type claim struct {
	size, entry uint64
	root        tlog.Hash
}

const claimLen = 8 + 32 + 8

// falseClaims are the claims whose root is not that of the tree.
type falseClaims struct {
	first claim  // of the smallest size
	count uint64 // checkpoints
}

// heads compares claims with the tree of the ledger that src holds, in one pass over the hashes of its entries.
func heads(ctx context.Context, src Source, size uint64, claims *workFiles) (f falseClaims, err error) {
	e, hasher := new(edge), newTreeHasher()
	var due []claim
	part := 0
	for n := uint64(0); n*Width < size; n++ {
		if err := ctx.Err(); err != nil {
			return f, err
		}
		leaves, err := leavesOf(ctx, src, n, int(min(Width, size-n*Width)))
		if err != nil {
			return f, err
		}
		tree := newSubtree(hasher, leaves)
		e.now = &tree
		for {
			for ; len(due) == 0 && part < workParts; part++ {
				if due, err = claimsOf(claims, part); err != nil {
					return f, err
				}
			}
			if len(due) == 0 {
				return f, nil
			}
			if due[0].size > n*Width+uint64(len(leaves)) {
				break
			}
			if root, ok := e.root(due[0].size); !ok || root != due[0].root {
				if f.count++; f.count == 1 || due[0].size == f.first.size && due[0].entry < f.first.entry {
					f.first = due[0]
				}
			}
			due = due[1:]
		}
		if len(leaves) == Width {
			if err := e.addTop(tree.top(), func(int, uint64, []byte) error { return nil }); err != nil {
				return f, err
			}
		}
	}
	return f, nil
}

// leavesOf reads the hashes of a chunk's entries again. It reads the entries if their tile is damaged or not kept: a
// database does not keep that of its last chunk.
func leavesOf(ctx context.Context, src Source, n uint64, width int) ([]tlog.Hash, error) {
	data, _, err := src.Tile(ctx, 0, n, width)
	if _, damaged := errors.AsType[*Damage](err); data != nil || err != nil && !damaged {
		return hashes(data), err
	}
	c, err := src.Chunk(ctx, n, width)
	leaves := make([]tlog.Hash, 0, width)
	for _, entry := range c.Entries {
		leaves = append(leaves, tlog.RecordHash(entry))
	}
	return leaves, err
}

// claim adds a checkpoint of a ledger of size entries that the entry of this index holds.
func (w *workFiles) claim(size uint64, h audit.Head, index uint64) {
	if h.Size >= 1 && h.Size <= size {
		c := append(binary.BigEndian.AppendUint64(nil, h.Size), h.Root[:]...)
		w.put(h.Size*(workParts-1)/size, binary.BigEndian.AppendUint64(c, index))
	}
}

// claimsOf reads a part, by size. It returns each checkpoint once, with the first entry that holds it.
func claimsOf(claims *workFiles, part int) (all []claim, err error) {
	b, err := claims.read(part)
	for ; len(b) > 0; b = b[claimLen:] {
		all = append(all, claim{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[40:]), tlog.Hash(b[8:40])})
	}
	slices.SortFunc(all, func(a, b claim) int {
		return cmp.Or(cmp.Compare(a.size, b.size), slices.Compare(a.root[:], b.root[:]), cmp.Compare(a.entry, b.entry))
	})
	return slices.CompactFunc(all, func(a, b claim) bool { return a.size == b.size && a.root == b.root }), err
}
