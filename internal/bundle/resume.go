package bundle

import (
	"errors"
	"fmt"

	"shuffled/internal/audit"
)

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
