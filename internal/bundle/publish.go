package bundle

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
)

// publish makes the files that run wrote part of the bundle. Everything that the checkpoint
// needs is on disk before it, and the checkpoint is the last file that is written.
func (x *export) publish(ctx context.Context) (*Result, error) {
	if err := x.partials(); err != nil {
		return nil, err
	}
	if err := x.dir.settle(); err != nil {
		return nil, err
	}
	if err := x.checkpoints(ctx); err != nil {
		return nil, err
	}
	m := &Manifest{Format: ManifestFormat, Period: Period{OptionalTime(x.o.From), OptionalTime(x.o.To)},
		ExportedAt: FormatTime(x.o.Now().UnixMilli())}
	manifest, err := m.Marshal()
	if err := errors.Join(err, m.check()); err != nil {
		return nil, err
	}
	if err := x.dir.publish(fileManifest, manifest); err != nil {
		return nil, err
	}
	if err := x.dir.publish(fileCheckpoint, x.checkpoint); err != nil {
		return nil, err
	}
	missing, err := x.missing(func(*named, [32]byte) error { return nil })
	if err != nil {
		return nil, err
	}
	return &Result{Size: x.head.Size, Added: x.head.Size - x.old.Size, Resumed: x.resumed,
		Cosigned: x.cosigned.count, MissingDecks: missing, Manifest: m}, nil
}

// partials writes the files at the right edge, which are not full.
func (x *export) partials() error {
	if len(x.tail) > 0 {
		name := TilePath(LevelEntries, x.head.Size/Width, int(x.head.Size%Width))
		if err := x.dir.put(name, x.tail); err != nil {
			return err
		}
	}
	return x.edge.Partial(func(level int, index uint64, data []byte) error {
		return x.dir.put(TilePath(level, index, len(data)/tlog.HashSize), data)
	})
}

// checkpoints appends the new cosigned checkpoints, and those that first cover a signing
// key, to their lists. Then it removes the files that the lists no longer need.
func (x *export) checkpoints(ctx context.Context) error {
	trees := &forest{fsys: x.fsys, size: x.head.Size}
	held := x.cosigned.size
	least, err := x.cosigned.from()
	if err != nil {
		return fmt.Errorf("reading %s: %w", dirCosigned, err)
	}
	again := 0 // the number in the bundle's file to continue from, for lines that came since
	for signed, err := range x.src.Cosigned(ctx, least) {
		if err != nil {
			return fmt.Errorf("reading cosigned checkpoints: %w", err)
		}
		c, err := x.parseCheckpoint(signed)
		if err == nil && c.Size < least {
			err = fmt.Errorf("the size must be %[2]d or more, not %[1]d", c.Size, least)
		}
		if err == nil && c.Size <= held {
			again, err = x.cosigned.rejoin(again, signed, c.Size)
		}
		if err != nil {
			return fmt.Errorf("%w: a cosigned checkpoint: %w", ErrContradiction, err)
		}
		if least = c.Size + 1; c.Size <= held {
			continue
		}
		if c.Size > x.head.Size {
			break // it covers entries that came since
		}
		if err := x.holds(trees, c); err != nil {
			return err
		}
		if err := x.cosigned.add(signed, c.Size); err != nil {
			return err
		}
	}
	if x.cosigned.size == x.head.Size {
		x.checkpoint = x.cosigned.last
		if err := x.checkSignature(); err != nil {
			return err
		}
	}
	if err := x.firstSigned(ctx, trees); err != nil {
		return err
	}
	if err := errors.Join(x.cosigned.end(), x.signed.end(), x.dir.settle()); err != nil {
		return err
	}
	return errors.Join(x.cosigned.trim(), x.signed.trim(), x.dir.prune())
}

// holds checks that the exported entries lead to the root of a checkpoint.
func (x *export) holds(trees *forest, c audit.Checkpoint) error {
	root, err := trees.rootAt(c.Size)
	if err != nil {
		return err
	}
	if root != c.Root {
		return fmt.Errorf("%w: its entries do not lead to the root of a checkpoint of size %d", ErrContradiction,
			c.Size)
	}
	return nil
}

// firstSigned appends, for each new entry of a signing key, the checkpoint that first covers
// it, in the order of these entries.
func (x *export) firstSigned(ctx context.Context, trees *forest) error {
	for _, index := range x.rotations {
		text, err := x.src.CheckpointAfter(ctx, index)
		if err != nil {
			return fmt.Errorf("reading the checkpoint after entry %d: %w", index, err)
		}
		c, err := x.parseCheckpoint(text)
		if err != nil {
			return fmt.Errorf("%w: the checkpoint after entry %d: %w", ErrContradiction, index, err)
		}
		if err := x.holds(trees, c); err != nil {
			return err
		}
		if err := x.signed.add(text, c.Size); err != nil {
			return err
		}
	}
	return nil
}
