package bundle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
)

// resume takes up the bundle that is in the directory: its right edge, which must
// hash to its root, and its keys and counts. These views are of the manifest's
// size; the entries from there to the checkpoint's are read, if an export was cut
// between the two files. Nothing else of the bundle is read again.
func (x *export) resume(ctx context.Context) (err error) {
	if x.oldEdge, err = edgeOf(x.fsys, x.old.Size); err != nil {
		return err
	}
	root, err := x.oldEdge.root()
	if err != nil {
		return err
	}
	if root != x.old.Root {
		return fmt.Errorf("%w: its tiles do not lead to its root", audit.ErrMalformed)
	}
	was, err := x.oldManifest()
	if err != nil {
		return err
	}
	x.cosigned, x.signed = was.Cosigned, was.Signed
	x.keepPartial(was)
	from := was.Size
	if x.keys, err = x.keysAt(was.Size); err != nil || was.Deckless > 0 {
		// Decks that were missing may have been found.
		from, x.keys = 0, NewKeys(x.o.Origin)
	}
	if err := x.reread(ctx, from); err != nil {
		return err
	}
	x.oldKeys, x.oldDeckless = x.keys, x.decks.deckless
	return nil
}

// reread reads the bundle's own entries from an index on, which must lead to its
// root.
func (x *export) reread(ctx context.Context, from uint64) error {
	e := &edge{size: from - from%Width}
	tiles := &forest{fsys: x.fsys, size: x.old.Size}
	for level := 1; level < maxLevels; level++ {
		hashes := hashesAt(e.size, level)
		if width := widthOf(hashes, hashes/Width); width > 0 {
			data, err := tiles.tile(level, hashes/Width)
			if err != nil {
				return err
			}
			e.tiles[level] = slices.Clone(data[:width*tlog.HashSize])
		}
	}
	for e.size < x.old.Size {
		index := e.size / Width
		entries, err := x.bundleOf(index, x.old.Size)
		if err != nil {
			return err
		}
		if err := x.readAll(ctx, chunk{index: index, entries: entries}, from); err != nil {
			return err
		}
		if err := e.add(leavesOf(entries), func(int, uint64, []byte) error { return nil }); err != nil {
			return err
		}
	}
	root, err := e.root()
	if err == nil && root != x.old.Root {
		err = fmt.Errorf("%w: its entries do not lead to its root", audit.ErrMalformed)
	}
	return err
}

// oldManifest returns the bundle's manifest; an empty one if the first export was
// cut before it wrote one.
func (x *export) oldManifest() (*Manifest, error) {
	b, err := readFile(x.fsys, fileManifest, maxManifest)
	if errors.Is(err, fs.ErrNotExist) {
		return new(Manifest), nil
	}
	if err != nil {
		return nil, err
	}
	m, err := ParseManifest(b)
	if err == nil && (m.Origin != x.old.Origin || m.Size > x.old.Size) {
		err = fmt.Errorf("%w: the manifest is not of the checkpoint", audit.ErrMalformed)
	}
	return m, err
}

// keepPartial names the files whose partial forms the bundle needs until it has a
// newer checkpoint and manifest.
func (x *export) keepPartial(was *Manifest) {
	x.dir.keep = make(map[string]bool)
	for _, size := range []uint64{x.old.Size, was.Size} {
		for level := levelEntries; level < maxLevels; level++ {
			x.dir.keep[tilePath(level, hashesAt(size, max(level, 0))/Width, Width)] = true
		}
	}
	x.dir.keep[framedPath(dirCosigned, was.Cosigned/Width, Width)] = true
	x.dir.keep[framedPath(dirSigned, was.Signed/Width, Width)] = true
}

// keysAt returns the keys of keys.json below size, once the entries that they
// come from are found under the bundle's root and say the same.
func (x *export) keysAt(size uint64) (*Keys, error) {
	b, err := readFile(x.fsys, fileKeys, maxKeys)
	if err != nil {
		return nil, err
	}
	all, err := ParseKeys(b)
	if err != nil {
		return nil, err
	}
	written, read, next := NewKeys(x.o.Origin), NewKeys(x.o.Origin), uint64(0)
	for _, key := range all.Keys {
		if key.Index >= size {
			break
		}
		written.Keys = append(written.Keys, key)
		if key.Index < next {
			continue // of the same entry
		}
		e, err := x.proved(key.Index)
		if err != nil {
			return nil, err
		}
		read.Apply(key.Index, e)
		next = key.Index + 1
	}
	one, err1 := written.Marshal()
	two, err2 := read.Marshal()
	if err := errors.Join(err1, err2); err != nil || !bytes.Equal(one, two) {
		return nil, fmt.Errorf("%w: keys.json is not what the entries say: %w", audit.ErrMalformed, err)
	}
	return read, nil
}

// proved reads an entry of the bundle and proves it under its root.
func (x *export) proved(index uint64) (audit.Entry, error) {
	entries, err := x.bundleOf(index/Width, x.old.Size)
	if err != nil {
		return audit.Entry{}, err
	}
	entry := entries[index%Width]
	proof, err := tlog.ProveRecord(int64(x.old.Size), int64(index), &forest{fsys: x.fsys, size: x.old.Size})
	if err != nil {
		return audit.Entry{}, err
	}
	r := audit.Receipt{Index: index, Entry: entry, Proof: proof}
	if err := r.CheckInclusion(x.old); err != nil {
		return audit.Entry{}, err
	}
	return audit.ParseEntry(entry)
}

// bundleOf reads an entry bundle of a tree of this size.
func (x *export) bundleOf(index, size uint64) ([][]byte, error) {
	return readFramed(x.fsys, tilePath(levelEntries, index, widthOf(size, index)), widthOf(size, index), maxEntries)
}
