package sequencer

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
	"shuffled/internal/ledger"
)

// loadChunk is how many entries are folded before their leaves go into the tree. It bounds
// the memory that a load takes.
const loadChunk = 4096

// load reads what memory knows of the ledger. It begins with the cache or with entry 0, and
// folds the entries that follow: it parses each one, checks it against the rules and hashes
// it into the tree. The root of the tree must be the one in the stored head.
func (l *Ledger) load(ctx context.Context) error {
	l.cfg.Step("the database, which is asked for the head of the ledger")
	head, err := l.cfg.Store.Head(ctx, l.ID())
	if err != nil {
		return fmt.Errorf("reading the head: %w", err)
	}
	l.cfg.Step("the cache of the state")
	if err := l.restore(ctx, head); err != nil {
		return err
	}
	from := l.memory.State.Size()
	l.cfg.Step(fmt.Sprintf("the folding of %d entries", head.Size-min(from, head.Size)))
	leaves, err := l.foldRows(ctx, from, head.Size, loadChunk)
	if err != nil {
		return err
	}
	if err := l.keep(leaves); err != nil {
		return err
	}
	if g := l.memory.State.Genesis(); g.Origin != l.cfg.Info.Origin {
		return fmt.Errorf("the genesis has the origin %q", g.Origin)
	}
	g, err := l.shown.Tree.Extend(nil)
	if err != nil {
		return err
	}
	l.memory.Head = head
	if err := l.checkHead(ctx, g, head, from); err != nil {
		return err
	}
	l.showKeys()
	return nil
}

// restore begins with the cache, so that only the entries above it are folded. If there is no
// cache, or it does not hold, nothing changes and all entries are folded: whether the ledger
// is damaged is for the entries to say. The error is that of ctx alone.
func (l *Ledger) restore(ctx context.Context, head ledger.Head) error {
	file, err := os.Open(cachePath(l.cfg.Mark))
	if errors.Is(err, os.ErrNotExist) {
		if head.Size >= 2*l.cfg.CacheEvery {
			l.cfg.Log.Warn("no cache of the state to begin from: folding all entries", "size", head.Size)
		}
		return nil
	}
	if err == nil {
		err = l.restoreFrom(ctx, head, file)
		file.Close()
	}
	if err != nil && ctx.Err() == nil {
		l.cfg.Log.Error("the cache of the state does not hold: folding all entries", "size", head.Size, "error", err)
	}
	return ctx.Err()
}

// restoreFrom takes state and tree from a cache, after checking that it is of this ledger's
// genesis and of the tree of head. On an error nothing has changed.
func (l *Ledger) restoreFrom(ctx context.Context, head ledger.Head, file *os.File) error {
	header, state, err := l.readCache(head, file)
	if err != nil {
		return err
	}
	under := tlog.TileHashReader(tlog.Tree{N: int64(head.Size), Hash: head.Root}, l.OwnTiles(ctx))
	edge, err := ledger.EdgeAt(under, header.Size)
	if err != nil {
		return err
	}
	whole, err := edge.Extend(nil)
	if err != nil {
		return err
	}
	switch root, err := whole.Root(); {
	case err != nil:
		return err
	case root != header.Root:
		return fmt.Errorf("the cache is of another tree of %d entries", header.Size)
	}
	row, err := l.Row(ctx, 0)
	if err != nil {
		return err
	}
	genesis, err := audit.ParseEntry(row.Entry)
	if err != nil {
		return err
	}
	if sha256.Sum256(row.Entry) != header.Genesis {
		return errors.New("the cache is of another genesis")
	}
	keys, err := historyOf(genesis, state.KeyEntries())
	if err != nil {
		return err
	}
	if err := l.checkHandovers(ctx, head, keys, 0); err != nil {
		return err
	}
	l.shown.Genesis, l.shown.GenesisHash = genesis, header.Genesis
	l.memory.State, l.shown.Tree = state, edge
	l.cachedSize, l.cachedKey = header.Size, string(state.SigningKey())
	return nil
}

// foldRows folds the stored entries from ≤ index < to into the state. With most above 0 it keeps every so many entries.
// It returns the leaves of the entries that it did not keep. Rows that are missing, or that break a rule, are an
// ErrFrozen.
func (l *Ledger) foldRows(ctx context.Context, from, to uint64, most int) (leaves []tlog.Hash, err error) {
	next := from
	for row, err := range l.cfg.Store.Rows(ctx, l.ID(), from, to) {
		if err != nil {
			return nil, fmt.Errorf("reading entries: %w", err)
		}
		if row.Index != next {
			return nil, fmt.Errorf("%w: entry %d is missing", ledger.ErrFrozen, next)
		}
		e, err := audit.ParseEntry(row.Entry)
		if err == nil {
			err = l.memory.State.Apply(e)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: entry %d: %w", ledger.ErrFrozen, next, err)
		}
		if next == 0 {
			l.shown.Genesis, l.shown.GenesisHash = e, sha256.Sum256(row.Entry)
		}
		next++
		leaves = append(leaves, tlog.RecordHash(row.Entry))
		if len(leaves) == most {
			if err := l.keep(leaves); err != nil {
				return nil, err
			}
			leaves = leaves[:0]
		}
	}
	if next == 0 || next != to {
		return nil, fmt.Errorf("%w: entry %d is missing", ledger.ErrFrozen, next)
	}
	return leaves, nil
}

// keep commits the folded entries to the state and adds their leaves to the tree.
func (l *Ledger) keep(leaves []tlog.Hash) error {
	g, err := l.shown.Tree.Extend(leaves)
	if err != nil {
		return err
	}
	l.memory.State.Commit()
	l.shown.Tree.Grow(g)
	return nil
}

// advance brings state and tree from the known head to a stored head of another daemon, after checking that it extends
// the known head and is signed with the keys in force. On an error nothing has changed.
func (l *Ledger) advance(ctx context.Context, head ledger.Head) error {
	mark := l.memory.State.Mark()
	g, err := l.replay(ctx, head)
	if err != nil {
		l.memory.State.Rollback(mark)
		return err
	}
	l.memory.State.Commit()
	l.showKeys()
	l.shown.Tree.Grow(g)
	l.memory.Head = head
	return nil
}

// replay folds the entries between the known head and a stored one, and checks the stored head's root and signatures.
func (l *Ledger) replay(ctx context.Context, head ledger.Head) (*ledger.Growth, error) {
	if head.Size < l.memory.Head.Size {
		return nil, fmt.Errorf("%w: size %d after %d", ledger.ErrFrozen, head.Size, l.memory.Head.Size)
	}
	leaves, err := l.foldRows(ctx, l.memory.Head.Size, head.Size, 0)
	if err != nil {
		return nil, err
	}
	g, err := l.shown.Tree.Extend(leaves)
	if err != nil {
		return nil, err
	}
	return g, l.checkHead(ctx, g, head, l.memory.Head.Size)
}

// checkHead refuses a stored head whose root is not that of its entries, or whose checkpoint does not say so under the
// signing keys in force. It checks the handovers of those that the entries from an index on brought.
func (l *Ledger) checkHead(ctx context.Context, g *ledger.Growth, head ledger.Head, from uint64) error {
	root, err := g.Root()
	if err != nil {
		return err
	}
	if root != head.Root {
		return fmt.Errorf("%w: the entries do not lead to the stored root", ledger.ErrFrozen)
	}
	var c audit.Checkpoint
	keys, err := historyOf(l.shown.Genesis, l.memory.State.KeyEntries())
	if err == nil {
		c, err = audit.OpenCheckpoint(head.Checkpoint, trust.Verifiers(keys.InForce())...)
	}
	if err != nil {
		return fmt.Errorf("%w: the stored checkpoint: %w", ledger.ErrFrozen, err)
	}
	if c.Size != head.Size || c.Root != root {
		return fmt.Errorf("%w: the stored checkpoint is of another head", ledger.ErrFrozen)
	}
	return l.checkHandovers(ctx, head, keys, from)
}
