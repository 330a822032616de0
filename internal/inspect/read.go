package inspect

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"slices"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
)

// chunk is a run of entries on its way from the fold to a worker and back. The worker
// fills it, and owns it until done is closed.
type chunk struct {
	n      uint64
	first  uint64  // index of the first entry
	width  int     // entries in it, 1 to Width
	points []point // checkpoints whose size is first+1 to first+width, ascending
	beyond []point // of the last chunk: the first of each kind that covers more than the newest
	done   chan struct{}

	where   string
	entries []parsed
	tree    subtree
	top     *tlog.Hash  // the node over the chunk, if nothing below it is known
	broken  bool        // its hashes are not known: the tree ends here
	other   []tlog.Hash // the leaves of the tile, if they differ and no node above decides which are right
	tileAt  string
	faults  []Fault
	err     error // ends the run

	spoilt        int  // cosigned checkpoints that cannot be judged
	endOfCosigned bool // the cosigned checkpoints could not be read further
	endOfSigned   bool // nor those that cover signing keys
}

// parsed is one entry.
type parsed struct {
	e               audit.Entry
	lost            bool  // its bytes are missing or not the ledger's
	bad             error // it does not parse
	passed          []audit.Code
	noDeck, noTerms *Fault
	leaf            *tlog.Hash // nil: nobody asks for it
}

// point is a checkpoint at its size.
type point struct {
	Checkpoint
	kind Kind
	head audit.Checkpoint

	// What a worker found. The fold checks again if other signers are in force by then.
	by     *signers
	signed bool
	own    bool // the ledger's own quorum
	// complete is the second at which the trusted policy's quorum was complete, 0 if it is not or signed is false.
	complete int64
	// common is the second at which a witness of both ledgers of a pair had cosigned, 0 for none.
	common int64
}

// signers are the keys and the policy that are in force, as far as the fold has
// come. Workers check signatures with them ahead of the fold.
type signers struct {
	keys   []note.Verifier // of Ed25519 and perhaps of ML-DSA-44; nil: none that can be used
	policy *trust.Policy
}

// check fills what p says of its signatures.
func (p *point) check(by *signers, r *run) {
	p.by = by
	p.signed = signedBy(p.Signed, by.keys)
	if p.kind == KindCosigned {
		p.own = by.policy != nil && by.policy.Satisfied(p.Signed)
		if p.complete, _ = r.trust.Policy.CompleteAt(p.Signed); !p.signed {
			p.complete = 0
		}
		p.common = r.opts.side.commonAt(p)
	}
}

// signedBy reports whether a key of each algorithm signed.
func signedBy(signed []byte, keys []note.Verifier) bool {
	_, err := audit.OpenCheckpoint(signed, keys...)
	return err == nil
}

// worker is the state of one worker, with memory that it uses again.
type worker struct {
	*run
	leaf   []byte
	hasher *treeHasher
}

// read fills a chunk.
func (w *worker) read(ctx context.Context, c *chunk) {
	by := w.signers.Load()
	for i := range c.points {
		c.points[i].check(by, w.run)
	}
	raw, err := w.src.Chunk(ctx, c.n, c.width)
	if !c.damage(err) {
		return
	}
	c.where = raw.Where
	c.faults = append(c.faults, raw.Faults...)
	raw.Entries = append(slices.Clip(raw.Entries), make([][]byte, max(0, c.width-len(raw.Entries)))...)[:c.width]
	c.entries = make([]parsed, c.width)
	leaves := make([]tlog.Hash, c.width) // zero for what is not there
	for i, b := range raw.Entries {
		if b == nil {
			c.entries[i].lost = true
			continue
		}
		w.leaf = append(append(w.leaf[:0], 0x00), b...)
		leaves[i] = sha256.Sum256(w.leaf)
	}
	if err := w.settle(ctx, c, leaves); !c.damage(err) {
		return
	}
	for i, b := range raw.Entries {
		w.parse(ctx, c, i, b, raw.Parsed)
	}
}

// damage keeps an error of the source: evidence that is damaged as a fault, any other
// error as the end of the run. It reports whether the worker goes on.
func (c *chunk) damage(err error) bool {
	if f := c.wrong(err); f != nil {
		c.faults = append(c.faults, *f)
	}
	return c.err == nil
}

// settle compares the leaves with the tile that the source keeps. If they differ, the
// node above both decides which of the two is damaged.
func (w *worker) settle(ctx context.Context, c *chunk, leaves []tlog.Hash) error {
	data, where, err := w.src.Tile(ctx, 0, c.n, c.width)
	if err != nil && !c.damage(err) {
		return nil
	}
	c.tileAt = where
	tile := hashes(data)
	lost := slices.ContainsFunc(c.entries, func(p parsed) bool { return p.lost })
	if !lost && (tile == nil || slices.Equal(leaves, tile)) {
		c.tree = newSubtree(w.hasher, leaves)
		return nil
	}
	var above *tlog.Hash
	if c.width == Width {
		if above, err = w.above(ctx, c.n); err != nil {
			return err
		}
	}
	if tile == nil { // and entries are lost
		c.top, c.broken = above, above == nil
		return nil
	}
	for i, p := range c.entries {
		if p.lost {
			leaves[i] = tile[i]
		}
	}
	c.tree, c.other = newSubtree(w.hasher, leaves), tile
	if above != nil {
		c.reconcile(w.hasher, func(t *subtree) bool { return t.top() == *above })
		c.other = nil
	}
	return nil // otherwise the fold decides, by a checkpoint
}

// mostDoubts is up to how many differing hashes all combinations are tried.
const mostDoubts = 8

// reconcile takes of each leaf either the hash of the entry or that of the tile, so that the tree holds. It names what
// is damaged: the entries whose leaf is the tile's, and the tile if a leaf is the entry's.
func (c *chunk) reconcile(hasher *treeHasher, holds func(*subtree) bool) {
	own := c.tree[0]
	doubts := differ(own, c.other)
	if len(doubts) == 0 {
		return
	}
	masks := []int{0, -1} // a bit for each doubt: 1 takes the tile's hash
	for m := 1; len(doubts) <= mostDoubts && m < 1<<len(doubts)-1; m++ {
		masks = append(masks, m)
	}
	for _, mask := range masks {
		leaves, kept := slices.Clone(own), 0
		for k, i := range doubts {
			if mask>>min(k, mostDoubts)&1 == 0 {
				kept++
			} else {
				leaves[i] = c.other[i]
			}
		}
		tree := newSubtree(hasher, leaves)
		if !holds(&tree) {
			continue
		}
		c.tree = tree
		for _, i := range doubts {
			if leaves[i] != own[i] {
				c.entries[i].lost = true
				c.faults = append(c.faults,
					fault(CodeEntry, c.where, "these bytes are not what stands in the tree").at(c.first+uint64(i)))
			}
		}
		if kept > 0 {
			c.faults = append(c.faults, fault(CodeTile, c.tileAt,
				"%d hashes are not those of the entries, which lead to what is above", kept))
		}
		return
	}
	c.faults = append(c.faults, fault(CodeTile, c.tileAt,
		"%d hashes are not those of the entries, and neither lead to what is above", len(doubts)))
}

// above returns the hash over chunk n in the tile of level 1; nil: it is not kept, or damaged.
func (w *worker) above(ctx context.Context, n uint64) (*tlog.Hash, error) {
	width := min(Width, w.size/Width-n/Width*Width)
	data, _, err := w.src.Tile(ctx, 1, n/Width, int(width))
	if _, ok := errors.AsType[*Damage](err); ok {
		return nil, nil // named when the level is compared
	}
	if data == nil || err != nil {
		return nil, err
	}
	return new(tlog.Hash(data[n%Width*tlog.HashSize:])), nil
}

// differ returns the numbers of the hashes that differ.
func differ(a, b []tlog.Hash) (at []int) {
	for i := range a {
		if a[i] != b[i] {
			at = append(at, i)
		}
	}
	return at
}

// hashes returns the hashes of a tile, nil for nil.
func hashes(data []byte) (all []tlog.Hash) {
	for hash := range slices.Chunk(data, tlog.HashSize) {
		all = append(all, tlog.Hash(hash))
	}
	return all
}

// parse parses entry i of the chunk.
func (w *worker) parse(ctx context.Context, c *chunk, i int, b []byte, then func(uint64, audit.Entry) []Fault) {
	p := &c.entries[i]
	if p.lost {
		return
	}
	if p.e, p.passed, p.bad = audit.ParseEntryCodes(b); p.bad != nil {
		return
	}
	if w.opts.Recomputed != nil || w.opts.side != nil {
		p.leaf = new(tlog.RecordHash(b))
	}
	if then != nil {
		c.faults = append(c.faults, then(c.first+uint64(i), p.e)...)
	}
	if b, ok := p.e.Body.(*audit.Commit); ok {
		p.noTerms = c.wrong(w.checkTerms(ctx, b.Context))
		if !b.Context.IsDraw() {
			p.noDeck = c.wrong(w.checkDeck(ctx, b.Context))
		}
	}
}

// wrong returns the fault that a *Damage is, nil for nothing. Any other error is the end of the run.
func (c *chunk) wrong(err error) *Fault {
	if d, ok := errors.AsType[*Damage](err); ok {
		return &d.Fault
	}
	c.err = cmp.Or(c.err, err)
	return nil
}
