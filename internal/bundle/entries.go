package bundle

import (
	"context"
	"fmt"
	"path"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
)

// ahead is how many chunks are read before they are hashed and written.
const ahead = 8

// chunk is what one entry bundle holds.
type chunk struct {
	index   uint64 // of the bundle
	entries [][]byte
	err     error // why there are no more
}

// found takes the full entry bundles that an export before left in the directory.
func (x *export) found(ctx context.Context) error {
	for x.edge.size+Width <= x.head.Size {
		index := x.edge.size / Width
		entries, err := readFramed(x.fsys, TilePath(LevelEntries, index, Width), Width, maxEntries)
		if err != nil {
			return nil // from here on the store is read
		}
		if err := x.take(ctx, chunk{index: index, entries: entries}); err != nil {
			return err
		}
		// Its name may not be on disk yet.
		if err := x.dir.makeDir(path.Dir(TilePath(LevelEntries, index, Width))); err != nil {
			return err
		}
		x.resumed = x.edge.size - x.old.Size
		x.progress()
	}
	return nil
}

// entries takes the rest from the store. A goroutine, which ends before entries
// does, reads ahead.
func (x *export) entries(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	chunks := make(chan chunk, ahead)
	go x.fetch(ctx, x.edge.size, chunks)
	defer func() {
		cancel()
		for range chunks {
		}
	}()
	for c := range chunks {
		if c.err != nil {
			return c.err
		}
		var file []byte
		for _, entry := range c.entries {
			file = appendFramed(file, entry)
		}
		if len(c.entries) < Width {
			x.tail = file // for the checkpoint alone
		} else if err := x.dir.put(TilePath(LevelEntries, c.index, Width), file); err != nil {
			return err
		}
		if err := x.take(ctx, c); err != nil {
			return err
		}
		x.progress()
	}
	return nil
}

// fetch sends the entries from an index on, and closes chunks.
func (x *export) fetch(ctx context.Context, from uint64, chunks chan<- chunk) {
	defer close(chunks)
	send := func(c chunk) bool {
		select {
		case chunks <- c:
			return c.err == nil
		case <-ctx.Done():
			chunks <- chunk{err: ctx.Err()}
			return false
		}
	}
	next, c := from, chunk{index: from / Width}
	for entry, err := range x.src.Entries(ctx, from, x.head.Size) {
		if err == nil && len(entry) > maxEntry {
			err = fmt.Errorf("%w: entry %d has %d bytes", ErrContradiction, next, len(entry))
		}
		if err != nil {
			send(chunk{err: fmt.Errorf("reading entries: %w", err)})
			return
		}
		next++
		c.entries = append(c.entries, entry)
		if len(c.entries) == Width {
			if !send(c) {
				return
			}
			c = chunk{index: next / Width}
		}
	}
	if next != x.head.Size {
		send(chunk{err: fmt.Errorf("%w: entry %d of %d is missing", ErrContradiction, next, x.head.Size)})
	} else if len(c.entries) > 0 {
		send(c)
	}
}

// take adds the entries of a chunk to the tree, and their full tiles to the
// directory.
func (x *export) take(ctx context.Context, c chunk) error {
	// The entries that share a file with the bundle's last ones came once more.
	if err := x.readAll(ctx, c, x.old.Size); err != nil {
		return err
	}
	return x.edge.add(leavesOf(c.entries), func(level int, index uint64, data []byte) error {
		return x.dir.put(TilePath(level, index, Width), data)
	})
}

// leavesOf returns the leaf hashes of entries.
func leavesOf(entries [][]byte) []byte {
	leaves := make([]byte, 0, Width*tlog.HashSize)
	for _, entry := range entries {
		leaf := tlog.RecordHash(entry)
		leaves = append(leaves, leaf[:]...)
	}
	return leaves
}

// readAll reads the entries of a chunk from an index on.
func (x *export) readAll(ctx context.Context, c chunk, from uint64) error {
	for i, entry := range c.entries {
		if index := c.index*Width + uint64(i); index >= from {
			if err := x.read(ctx, index, entry); err != nil {
				return err
			}
		}
	}
	return nil
}

// read takes from an entry what the other files are made of. An entry that cannot
// be read is exported like any other: to find fault with it is the auditor's.
func (x *export) read(ctx context.Context, index uint64, entry []byte) error {
	if len(entry) < 2 {
		return nil
	}
	switch t := audit.Type(entry[1]); t {
	case audit.TypeGenesis, audit.TypeKey, audit.TypeCommit:
		e, err := audit.ParseEntry(entry)
		if err != nil {
			return nil
		}
		if commit, ok := e.Body.(*audit.Commit); ok {
			return x.names(ctx, commit.Context)
		}
		x.signingKey(index, e)
	}
	return nil
}

// names puts what a commit names by a hash into the bundle. A list of tickets is its owner's.
func (x *export) names(ctx context.Context, c *audit.Context) error {
	if t := c.Terms; t != nil && t.Kind != audit.TermsTicketList {
		if err := x.need(ctx, termsFiles, t.Hash); err != nil {
			return err
		}
	}
	if c.IsDraw() {
		return nil
	}
	return x.need(ctx, deckFiles, c.DeckHash)
}

// signingKey notes the signing key that an entry brings.
func (x *export) signingKey(index uint64, e audit.Entry) {
	key := audit.SigningKeyOf(e)
	if key == nil || index > 0 && e.Body.Type() == audit.TypeGenesis {
		return
	}
	if x.keys[key[0]] = key; index > 0 {
		x.rotations = append(x.rotations, index)
	}
}

// progress tells how far the export is.
func (x *export) progress() {
	if x.o.Progress != nil {
		x.o.Progress(x.edge.size-min(x.edge.size, x.old.Size), x.head.Size-x.old.Size)
	}
}
