package bundle

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
)

// found takes the full entry bundles that an earlier export left in the directory.
func (x *export) found(ctx context.Context) error {
	for x.edge.size+Width <= x.head.Size {
		name := TilePath(LevelEntries, x.edge.size/Width, Width)
		entries, err := readFramed(x.fsys, name, Width, maxEntries)
		if err != nil {
			return nil // from here on the store is read
		}
		if err := x.take(ctx, entries); err != nil {
			return err
		}
		// The name of the file may not be on disk yet.
		if err := x.dir.makeDir(path.Dir(name)); err != nil {
			return err
		}
		x.resumed = x.edge.size - x.old.Size
	}
	return nil
}

// entries takes the rest from the store, one entry bundle after the other.
func (x *export) entries(ctx context.Context) error {
	var entries [][]byte
	var file []byte
	next := x.edge.size
	for entry, err := range x.src.Entries(ctx, next, x.head.Size) {
		if err != nil {
			return fmt.Errorf("reading entries: %w", err)
		}
		if len(entry) > maxEntry {
			return fmt.Errorf("reading entries: %w: entry %d has %d bytes", ErrContradiction, next, len(entry))
		}
		next++
		entries, file = append(entries, entry), appendFramed(file, entry)
		if len(entries) < Width {
			continue
		}
		if err := x.dir.put(TilePath(LevelEntries, x.edge.size/Width, Width), file); err != nil {
			return err
		}
		if err := x.take(ctx, entries); err != nil {
			return err
		}
		entries, file = nil, nil
	}
	if next != x.head.Size {
		return fmt.Errorf("%w: entry %d of %d is missing", ErrContradiction, next, x.head.Size)
	}
	x.tail = file // written by publish
	return x.take(ctx, entries)
}

// take adds the entries of one entry bundle to the tree, and their full tiles to the directory.
func (x *export) take(ctx context.Context, entries [][]byte) error {
	for i, entry := range entries {
		// The entries that share a file with the bundle's last ones were read before.
		if index := x.edge.size + uint64(i); index >= x.old.Size {
			if err := x.read(ctx, index, entry); err != nil {
				return err
			}
		}
	}
	err := x.edge.Add(0, leavesOf(entries), func(level int, index uint64, data []byte) error {
		return x.dir.put(TilePath(level, index, Width), data)
	})
	if x.o.Progress != nil {
		x.o.Progress(x.edge.size-min(x.edge.size, x.old.Size), x.head.Size-x.old.Size)
	}
	return err
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

// read takes from an entry what the other files are made of. An entry that cannot be read
// is exported like any other: the auditor judges it.
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
		if takeKey(&x.keys, index, e) && index > 0 {
			x.rotations = append(x.rotations, index)
		}
	}
	return nil
}

// names puts the deck and the document of terms that a commit names into the bundle. A list
// of tickets is not exported: its owner keeps it.
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

// takeKey reports whether the genesis or a key entry brings a signing key, and takes it.
func takeKey(keys *trust.History, index uint64, e audit.Entry) bool {
	before := len(keys.Signing)
	if index == 0 || e.Body.Type() == audit.TypeKey {
		keys.Take(index, e) // signedWith says which key cannot be used
	}
	return len(keys.Signing) > before
}

// appendFramed appends one entry or checkpoint to a file of them, as C2SP tlog-tiles does: a u16 length and the bytes.
func appendFramed(b, item []byte) []byte {
	return append(binary.BigEndian.AppendUint16(b, uint16(len(item))), item...)
}

// maxEntry is the longest entry that a file can hold. Valid entries are shorter
// (docs/SPEC.md section 5). A longer one is exported, and a verifier refuses it.
const maxEntry = 1<<16 - 1

// readFramed reads a file of n items. If only the full file is there, it returns the first n items of that.
func readFramed(fsys fs.FS, name string, n int, limit int64) ([][]byte, error) {
	b, err := readFile(fsys, name, limit)
	full, partial := strings.CutSuffix(name, fmt.Sprintf("%s/%d", partialSuffix, n))
	if partial && errors.Is(err, fs.ErrNotExist) {
		items, err := readFramed(fsys, full, Width, limit)
		return items[:min(n, len(items))], err
	}
	if err != nil {
		return nil, err
	}
	items, err := unframe(b, n)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	return items, nil
}

// unframe returns the items of a file, which must have exactly n. They are parts of b.
func unframe(b []byte, n int) ([][]byte, error) {
	items := make([][]byte, 0, n)
	for range n {
		if len(b) < 2 {
			return nil, fmt.Errorf("%w: %d items, not %d", audit.ErrMalformed, len(items), n)
		}
		size := int(binary.BigEndian.Uint16(b))
		if len(b)-2 < size {
			return nil, fmt.Errorf("%w: item %d is cut short", audit.ErrMalformed, len(items))
		}
		items = append(items, b[2:2+size:2+size])
		b = b[2+size:]
	}
	if len(b) != 0 {
		return nil, fmt.Errorf("%w: bytes after item %d", audit.ErrMalformed, n-1)
	}
	return items, nil
}
