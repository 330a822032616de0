package ledger

import (
	"context"
	"crypto/sha256"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
)

// loadChunk is how many entries are folded between two steps of the tree: it
// bounds memory, whatever the ledger's size.
const loadChunk = 4096

// load folds the stored entries, from the cache or from entry 0: it parses each,
// checks it against the rules and hashes it into the tree, whose root must be the one
// the stored head signs.
func (l *Ledger) load(ctx context.Context) error {
	l.cfg.Step("the database, which is asked for the head of the ledger")
	head, err := l.cfg.Store.Head(ctx, l.id)
	if err != nil {
		return fmt.Errorf("reading the head: %w", err)
	}
	l.cfg.Step("the cache of the state")
	if err := l.restore(ctx, head); err != nil {
		return err
	}
	from := l.state.Size()
	l.cfg.Step(fmt.Sprintf("the folding of %d entries", head.Size-min(from, head.Size)))
	leaves, err := l.foldRows(ctx, from, head.Size, &l.history, loadChunk)
	if err != nil {
		return err
	}
	if err := l.keep(leaves); err != nil {
		return err
	}
	if g := l.state.Genesis(); g.Origin != l.cfg.Info.Origin {
		return fmt.Errorf("the genesis is of %q", g.Origin)
	}
	g, err := l.tree.extend(nil)
	if err != nil {
		return err
	}
	l.head = head
	return l.checkHead(g, head, l.history)
}

// foldRows folds the stored entries from ≤ index < to into state and history, and checks
// what hands on from one signing key to the next. It returns the leaves that are not part
// of the tree yet: with most above 0 it keeps so many at a time. Rows that end early or
// differ are doubt about durable state: ErrFrozen.
func (l *Ledger) foldRows(ctx context.Context, from, to uint64, history *keyHistory, most int) (
	leaves []tlog.Hash, err error) {
	var handovers []handover
	next := from
	for row, err := range l.cfg.Store.Rows(ctx, l.id, from, to) {
		if err != nil {
			return nil, fmt.Errorf("reading entries: %w", err)
		}
		old := *history
		signs, err := l.fold(row, next, history)
		if err != nil {
			return nil, err
		}
		next++
		leaves = append(leaves, tlog.RecordHash(row.Entry))
		if signs && row.Index > 0 {
			h, err := l.handover(leaves, row.Index, old, *history)
			if err != nil {
				return nil, err
			}
			handovers = append(handovers, h)
		}
		if len(leaves) == most {
			if err := l.keep(leaves); err != nil {
				return nil, err
			}
			leaves = leaves[:0]
		}
	}
	if next == 0 || next != to {
		return nil, fmt.Errorf("%w: entry %d is missing", ErrFrozen, next)
	}
	return leaves, l.checkHandovers(ctx, handovers)
}

// keep makes folded entries final and their leaves part of the tree.
func (l *Ledger) keep(leaves []tlog.Hash) error {
	g, err := l.tree.extend(leaves)
	if err != nil {
		return err
	}
	full, err := g.tiles()
	if err != nil {
		return err
	}
	l.state.Commit()
	l.edge.Lock()
	defer l.edge.Unlock()
	l.tree.grow(g, full)
	return nil
}

// fold applies a stored row as entry index, to the history of keys, too; signs
// says that it brought a signing key.
func (l *Ledger) fold(row Row, index uint64, history *keyHistory) (signs bool, err error) {
	if row.Index != index {
		return false, fmt.Errorf("%w: entry %d is missing", ErrFrozen, index)
	}
	e, err := audit.ParseEntry(row.Entry)
	if err == nil {
		err = l.state.Apply(e)
	}
	if err == nil {
		*history, signs, err = history.with(e, index)
	}
	if err != nil {
		return false, fmt.Errorf("%w: entry %d: %w", ErrFrozen, index, err)
	}
	if index == 0 {
		l.genesis, l.genesisHash = e, sha256.Sum256(row.Entry)
	}
	return signs, nil
}

// advance brings state and tree from the known head to a stored one that this
// daemon did not write, after checking that it extends what is known and is
// signed with the key in force. On an error nothing has changed.
func (l *Ledger) advance(ctx context.Context, head Head) error {
	mark, history := l.state.Mark(), l.history
	var full []Tile
	g, err := l.replay(ctx, head, &history)
	if err == nil {
		full, err = g.tiles()
	}
	if err != nil {
		l.state.Rollback(mark)
		return err
	}
	l.state.Commit()
	l.history = history
	l.edge.Lock()
	l.tree.grow(g, full)
	l.edge.Unlock()
	l.head = head
	return nil
}

// replay folds the entries between the known head and the stored one, and
// checks root and signatures.
func (l *Ledger) replay(ctx context.Context, head Head, history *keyHistory) (*growth, error) {
	if head.Size < l.head.Size {
		return nil, fmt.Errorf("%w: size %d after %d", ErrFrozen, head.Size, l.head.Size)
	}
	leaves, err := l.foldRows(ctx, l.head.Size, head.Size, history, 0)
	if err != nil {
		return nil, err
	}
	g, err := l.tree.extend(leaves)
	if err != nil {
		return nil, err
	}
	return g, l.checkHead(g, head, *history)
}

// checkHead: the stored head's root is that of its entries and its checkpoint
// says so under the signing key in force.
func (l *Ledger) checkHead(g *growth, head Head, history keyHistory) error {
	root, err := g.root()
	if err != nil {
		return err
	}
	if root != head.Root {
		return fmt.Errorf("%w: the entries do not lead to the stored root", ErrFrozen)
	}
	c, err := audit.OpenCheckpoint(head.Checkpoint, verifiersOf(history.inForce())...)
	if err != nil {
		return fmt.Errorf("%w: the stored checkpoint: %w", ErrFrozen, err)
	}
	if c.Size != head.Size || c.Root != root {
		return fmt.Errorf("%w: the stored checkpoint is of another head", ErrFrozen)
	}
	return nil
}

// rootAt computes the root of the first size entries, at least 1, from the
// stored tiles and entries, authenticated by a head that covers them.
func (l *Ledger) rootAt(ctx context.Context, head Head, size uint64) (tlog.Hash, error) {
	if size == head.Size {
		return head.Root, nil
	}
	reader := tlog.TileHashReader(tlog.Tree{N: int64(head.Size), Hash: head.Root}, l.ownTiles(ctx))
	root, err := tlog.TreeHash(int64(size), reader)
	if err != nil {
		return tlog.Hash{}, fmt.Errorf("computing the root at size %d: %w", size, err)
	}
	return root, nil
}
