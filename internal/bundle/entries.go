package bundle

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
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
			if err := x.terms(ctx, commit.Context.Terms); err != nil {
				return err
			}
			return x.deck(ctx, commit.Context)
		}
		x.signingKey(index, e)
	}
	return nil
}

// signingKey notes the signing key that an entry brings.
func (x *export) signingKey(index uint64, e audit.Entry) {
	key := audit.SigningKeyOf(e)
	if key == nil || index > 0 && e.Body.Type() == audit.TypeGenesis {
		return
	}
	if x.key = key; index > 0 {
		x.rotations = append(x.rotations, index)
	}
}

// progress tells how far the export is.
func (x *export) progress() {
	if x.o.Progress != nil {
		x.o.Progress(x.edge.size-min(x.edge.size, x.old.Size), x.head.Size-x.old.Size)
	}
}

// maxSeen bounds the memory of decks; one that was forgotten is looked up again.
const maxSeen = 1 << 16

// deck puts the deck that a commit names into the bundle.
func (x *export) deck(ctx context.Context, c *audit.Context) error {
	if c.IsDraw() || x.decks[c.DeckHash] {
		return nil
	}
	if len(x.decks) >= maxSeen {
		clear(x.decks)
	}
	x.decks[c.DeckHash] = true
	if _, err := readDeck(x.fsys, c.DeckHash); err == nil {
		return x.dir.makeDir(dirDecks)
	} else if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, audit.ErrMalformed) {
		return err
	}
	return x.writeDeck(ctx, c.DeckHash)
}

// writeDeck puts a deck into the bundle, as an empty file if the store does not have
// it. A list of another hash is not that deck, wherever it is found.
func (x *export) writeDeck(ctx context.Context, hash [32]byte) error {
	cards, err := x.src.Deck(ctx, hash)
	if err != nil && !errors.Is(err, ErrNoDeck) {
		return fmt.Errorf("reading the deck %x: %w", hash, err)
	}
	var text []byte
	if err == nil {
		text, _ = formatDeck(hash, cards)
	}
	return x.dir.put(deckPath(hash), text)
}

// mend asks the store once more for the decks and terms that it did not have.
func (x *export) mend(ctx context.Context) error {
	decks, terms, err := x.missing()
	for _, hash := range decks {
		if err == nil {
			err = x.writeDeck(ctx, hash)
		}
	}
	for _, hash := range terms {
		if err == nil {
			err = x.writeTerms(ctx, hash)
		}
	}
	return err
}

// missing returns the decks and terms whose files are empty.
func (x *export) missing() (decks, terms [][32]byte, err error) {
	if decks, err = x.empty(dirDecks, parseDeckName); err == nil {
		terms, err = x.empty(dirTerms, parseHash)
	}
	return decks, terms, err
}

// empty returns the hashes in the names of the empty files of a directory.
func (x *export) empty(dir string, parse func(string) ([32]byte, bool)) (hashes [][32]byte, err error) {
	files, err := fs.ReadDir(x.fsys, dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading %s: %w", dir, err)
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", dir, err)
		}
		if hash, ok := parse(f.Name()); ok && info.Size() == 0 {
			hashes = append(hashes, hash)
		}
	}
	return hashes, nil
}
