package ledger

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
)

// restore goes on from the newest stored snapshot that holds, so that only the
// entries from there on are folded; without one it changes nothing. Nobody's word
// is taken for a snapshot: its digest must be that of a snapshot event which stands
// under the root of head, and that root is checked like any other when the tail is
// folded. So whoever could make one up could as well make up the entries: with a
// signing key of this ledger, and not without.
//
// Whatever does not hold is passed over, and costs time: the entries themselves say
// in the end whether the ledger is damaged.
func (l *Ledger) restore(ctx context.Context, head Head) error {
	below := head.Size
	for range KeptSnapshots {
		s, err := l.cfg.Store.SnapshotBelow(ctx, l.id, below)
		if errors.Is(err, ErrNotFound) {
			break
		}
		if err != nil {
			return fmt.Errorf("reading a snapshot: %w", err)
		}
		if err = l.restoreFrom(ctx, head, s); err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return err
		}
		l.cfg.Log.Error("a stored snapshot does not hold: it is passed over", "ledger", l.cfg.Info.Name, "entry", s.Index, "error", err)
		if s.Index >= below {
			break
		}
		below = s.Index
	}
	if head.Size >= 2*l.cfg.SnapshotEvery {
		l.cfg.Log.Warn("no snapshot to begin from: folding all entries", "ledger", l.cfg.Info.Name, "size", head.Size)
	}
	return nil
}

// restoreFrom makes a snapshot what memory knows. On an error nothing has changed.
func (l *Ledger) restoreFrom(ctx context.Context, head Head, s Snapshot) error {
	under := tlog.TileHashReader(tlog.Tree{N: int64(head.Size), Hash: head.Root}, l.ownTiles(ctx))
	genesis, event, err := l.snapshotEntries(ctx, head, under, s.Index)
	if err != nil {
		return err
	}
	b, ok := event.Body.(*audit.Event)
	if !ok || b.Kind != audit.EventSnapshot || b.Digest != audit.StateDigest(s.State) {
		return errors.New("its digest is not in the ledger")
	}
	state, err := audit.ParseState(s.State)
	if err != nil {
		return err
	}
	if state.Size() != s.Index {
		return fmt.Errorf("it is of %d entries", state.Size())
	}
	history, err := l.historyOf(ctx, under, genesis, state.KeyEntries())
	if err != nil {
		return err
	}
	edge, err := edgeAt(under, s.Index)
	if err != nil {
		return err
	}
	l.genesis, l.state, l.history, l.tree = genesis, state, history, edge
	return nil
}

// snapshotEntries returns the genesis and the entry at index, both under the root
// of head, to which under authenticates what it reads.
func (l *Ledger) snapshotEntries(ctx context.Context, head Head, under tlog.HashReader, index uint64) (genesis, event audit.Entry, err error) {
	if index == 0 || index >= head.Size {
		return genesis, event, errors.New("it is of no entry of the ledger")
	}
	leaves, err := under.ReadHashes([]int64{tlog.StoredHashIndex(0, 0), tlog.StoredHashIndex(0, int64(index))})
	if err != nil {
		return genesis, event, err
	}
	var parsed [2]audit.Entry
	for i, at := range []uint64{0, index} {
		row, err := l.row(ctx, at)
		if err == nil && tlog.RecordHash(row.Entry) != leaves[i] {
			err = fmt.Errorf("the row of entry %d is not that entry", at)
		}
		if err == nil {
			parsed[i], err = audit.ParseEntry(row.Entry)
		}
		if err != nil {
			return genesis, event, err
		}
	}
	return parsed[0], parsed[1], nil
}

// historyOf makes the history of keys of a state, and checks every hand-over in it
// as a fold does.
func (l *Ledger) historyOf(ctx context.Context, under tlog.HashReader, genesis audit.Entry, keys []audit.KeyEntry) (keyHistory, error) {
	history, _, err := keyHistory{}.with(genesis, 0)
	if err != nil {
		return keyHistory{}, err
	}
	var handovers []handover
	for _, k := range keys {
		old := history
		var signs bool
		history, signs, err = history.with(audit.Entry{Time: k.Time, Body: k.Key}, k.Index)
		if err != nil {
			return keyHistory{}, err
		}
		if !signs {
			continue
		}
		root, err := tlog.TreeHash(int64(k.Index+1), under)
		if err != nil {
			return keyHistory{}, err
		}
		handovers = append(handovers, handover{index: k.Index, root: root, old: old.inForce().key, next: history.inForce().key})
	}
	return history, l.checkHandovers(ctx, handovers)
}

// edgeAt returns the tree of the first size entries, from tiles: the nodes of those
// that are not full at that size.
func edgeAt(under tlog.HashReader, size uint64) (*tree, error) {
	var nodes []int64
	for level := 0; size>>level > 0; level++ {
		tile := size >> (level - level%tileHeight) &^ (tileWidth - 1) // first hash of the last tile's lowest row
		for n := tile >> (level % tileHeight); n < size>>level; n++ {
			nodes = append(nodes, tlog.StoredHashIndex(level, int64(n)))
		}
	}
	hashes, err := under.ReadHashes(nodes)
	if err != nil {
		return nil, fmt.Errorf("reading the right edge at size %d: %w", size, err)
	}
	t := newTree()
	t.size, t.known = int64(size), int64(size)
	for i, n := range nodes {
		t.nodes[n] = hashes[i]
	}
	return t, nil
}

// passSnapshot notes the state that a folded snapshot event is about, before the
// event is applied. The store may lack it.
func (l *Ledger) passSnapshot(e audit.Entry, passed **Snapshot) {
	b, ok := e.Body.(*audit.Event)
	if passed == nil || !ok || b.Kind != audit.EventSnapshot {
		return
	}
	_, encoded := l.state.EncodedSnapshot() // the rule has the digest for nothing then
	*passed = &Snapshot{l.state.Size(), encoded}
}

// lacks reports whether the store keeps no snapshot of that index or a later one.
func (l *Ledger) lacks(ctx context.Context, s *Snapshot, size uint64) bool {
	newest, err := l.cfg.Store.SnapshotBelow(ctx, l.id, size)
	return errors.Is(err, ErrNotFound) || err == nil && newest.Index < s.Index
}
