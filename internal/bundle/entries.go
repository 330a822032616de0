package bundle

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
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
	kinds := []audit.Type{audit.TypeGenesis, audit.TypeKey, audit.TypeCommit} // of no other, for they are many
	if len(entry) < 2 || !slices.Contains(kinds, audit.Type(entry[1])) {
		return nil
	}
	e, err := audit.ParseEntry(entry)
	commit, ok := e.Body.(*audit.Commit)
	switch {
	case err != nil:
	case ok:
		return x.names(ctx, commit.Context)
	case takeKey(&x.keys, index, e) && index > 0:
		x.rotations = append(x.rotations, index)
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

// resume reads the bundle that is in the directory: its right edge, its lists and the
// signing keys in force. The edge must hash to the root of the bundle's checkpoint, and the
// keys must have signed it. Of the entries it reads only the files that bring signing keys.
func (x *export) resume(checkpoint []byte) (err error) {
	if b, err := readFile(x.fsys, fileManifest, maxManifest); err == nil {
		if _, err := ParseManifest(b); errors.Is(err, audit.ErrUnknown) {
			return err // a bundle of a later version is not changed
		}
	}
	root, err := (&forest{fsys: x.fsys, size: x.old.Size}).rootAt(x.old.Size)
	if err != nil {
		return err
	}
	if root != x.old.Root {
		return fmt.Errorf("%w: its tiles do not lead to its root", audit.ErrMalformed)
	}
	if err := x.lists(); err != nil {
		return err
	}
	if err := x.keysInForce(); err != nil {
		return err
	}
	return x.signedWith(&x.oldKeys, checkpoint, x.old.Size)
}

// lists opens both lists, and notes the files whose partial forms the bundle needs until it has a newer checkpoint.
func (x *export) lists() (err error) {
	if x.cosigned, err = x.continued(dirCosigned); err == nil {
		x.signed, err = x.continued(dirSigned)
	}
	if err != nil {
		return err
	}
	x.dir.keep = make(map[string]bool)
	for level := LevelEntries; level < maxLevels; level++ {
		x.dir.keep[TilePath(level, hashesAt(x.old.Size, max(level, 0))/Width, Width)] = true
	}
	for _, l := range []*list{x.cosigned, x.signed} {
		x.dir.keep[framedPath(l.name, l.count/Width, Width)] = true
	}
	return nil
}

// keysInForce finds the bundle's signing keys: that of the genesis and those that checkpoints
// under signed/ cover first.
func (x *export) keysInForce() error {
	r, err := OpenFS(x.fsys)
	if err != nil {
		return err
	}
	err = x.keyBelow(1)
	for listed, readErr := range r.Signed() {
		c, textErr := audit.CheckpointText(listed.Signed)
		if err = errors.Join(err, readErr, textErr); err != nil || c.Size > x.old.Size {
			break
		}
		err = x.keyBelow(c.Size)
	}
	return err
}

// keyBelow takes the newest signing key that an entry below end brings. In a ledger that
// keeps the rules that entry is the last one that a checkpoint under signed/ covers.
func (x *export) keyBelow(end uint64) error {
	for ; end > 0; end = (end - 1) / Width * Width {
		first := (end - 1) / Width * Width
		width := widthOf(x.old.Size, first/Width)
		entries, err := readFramed(x.fsys, TilePath(LevelEntries, first/Width, width), width, maxEntries)
		if err != nil {
			return err
		}
		for index := end; index > first; index-- {
			e, err := audit.ParseEntry(entries[index-1-first])
			if err == nil && takeKey(&x.oldKeys, index-1, e) {
				return nil
			}
		}
	}
	return fmt.Errorf("%w: the entry of its signing key is missing", audit.ErrMalformed)
}
