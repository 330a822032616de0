package bundle

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"

	"shuffled/internal/audit"
)

// publish makes what run wrote the bundle. Everything that the checkpoint needs
// is on disk before it, and what describes the bundle comes after it, the
// manifest last: one of another size or digest tells that the rest is missing.
func (x *export) publish(ctx context.Context) error {
	if err := x.partials(); err != nil {
		return err
	}
	if err := x.dir.settle(); err != nil {
		return err
	}
	if err := x.checkpoints(ctx); err != nil {
		return err
	}
	if err := x.dir.settle(); err != nil {
		return err
	}
	return x.describe(ctx)
}

// partials writes the files at the right edge.
func (x *export) partials() error {
	if len(x.tail) > 0 {
		name := tilePath(levelEntries, x.head.Size/Width, int(x.head.Size%Width))
		if err := x.dir.put(name, x.tail); err != nil {
			return err
		}
	}
	for level, data := range x.edge.tiles {
		if len(data) == 0 {
			continue
		}
		hashes := hashesAt(x.head.Size, level)
		if err := x.dir.put(tilePath(level, hashes/Width, widthOf(hashes, hashes/Width)), data); err != nil {
			return err
		}
	}
	return nil
}

// checkpoints writes the cosigned checkpoints and those that first cover a
// signing key, after what the bundle has of them.
func (x *export) checkpoints(ctx context.Context) error {
	trees := &forest{fsys: x.fsys, size: x.head.Size}
	cosigned, err := x.continued(dirCosigned, &x.cosigned)
	if err != nil {
		return err
	}
	next := uint64(1)
	if cosigned.last != nil {
		c, err := audit.CheckpointText(cosigned.last)
		if err != nil {
			return fmt.Errorf("%w: %s: %w", ErrDamaged, dirCosigned, err)
		}
		next = c.Size + 1
	}
	for signed, err := range x.src.Cosigned(ctx, next) {
		if err != nil {
			return fmt.Errorf("reading cosigned checkpoints: %w", err)
		}
		c, err := x.parseCheckpoint(signed)
		if err == nil && c.Size < next {
			err = fmt.Errorf("size %d, not %d or more", c.Size, next)
		}
		if err != nil {
			return fmt.Errorf("%w: a cosigned checkpoint: %w", ErrContradiction, err)
		}
		if c.Size > x.head.Size {
			break // of entries that came since
		}
		if err := x.holds(trees, c); err != nil {
			return err
		}
		if err := cosigned.add(signed); err != nil {
			return err
		}
		next = c.Size + 1
	}
	if next == x.head.Size+1 {
		x.checkpoint = cosigned.last
		if err := x.checkSignature(); err != nil {
			return err
		}
	}
	return errors.Join(cosigned.end(), x.firstSigned(ctx, trees))
}

// holds reports whether a checkpoint is one of the exported entries.
func (x *export) holds(trees *forest, c audit.Checkpoint) error {
	root, err := trees.rootAt(c.Size)
	if err != nil {
		return err
	}
	if root != c.Root {
		return fmt.Errorf("%w: its entries do not lead to the root of a checkpoint of size %d", ErrContradiction, c.Size)
	}
	return nil
}

// firstSigned writes the checkpoint that first covers each entry of a signing
// key, in the order of these entries.
func (x *export) firstSigned(ctx context.Context, trees *forest) error {
	signed, err := x.continued(dirSigned, &x.signed)
	if err != nil {
		return err
	}
	seen := uint64(0)
	for _, key := range x.keys.Keys {
		if key.Index == 0 || key.Subject != audit.SubjectSigning.String() {
			continue
		}
		if seen++; seen <= x.signed {
			continue
		}
		text, err := x.src.CheckpointAfter(ctx, key.Index)
		if err != nil {
			return fmt.Errorf("reading the checkpoint after entry %d: %w", key.Index, err)
		}
		c, err := x.parseCheckpoint(text)
		if err != nil {
			return fmt.Errorf("%w: the checkpoint after entry %d: %w", ErrContradiction, key.Index, err)
		}
		if err := x.holds(trees, c); err != nil {
			return err
		}
		if err := signed.add(text); err != nil {
			return err
		}
	}
	return signed.end()
}

// describe writes the checkpoint and what is said about it.
func (x *export) describe(ctx context.Context) error {
	vkey, err := audit.VKey(x.o.Origin, x.keys.SigningKey())
	if err != nil {
		return err
	}
	keys, err := x.keys.Marshal()
	if err != nil {
		return err
	}
	if len(keys) > maxKeys {
		return fmt.Errorf("%s has %d bytes, at most %d", fileKeys, len(keys), maxKeys)
	}
	policy, err := x.policy(ctx, vkey)
	if err != nil {
		return err
	}
	x.manifest = &Manifest{
		Format: ManifestFormat, Origin: x.o.Origin, Name: x.o.Name, Production: x.keys.production,
		Size: x.head.Size, Root: base64.StdEncoding.EncodeToString(x.head.Root[:]), VKey: vkey,
		Cosigned: x.cosigned, Signed: x.signed, Deckless: x.decks.deckless,
		Digests:    Digests{Checkpoint: digest(x.checkpoint), Keys: digest(keys), Policy: digest(policy)},
		ExportedAt: formatTime(x.o.Now().UnixMilli()),
	}
	if x.manifest.Period, err = x.period(); err != nil {
		return err
	}
	manifest, err := x.manifest.Marshal()
	if err != nil {
		return err
	}
	if _, err := ParseManifest(manifest); err != nil {
		return err // a name that is none, say
	}
	for _, f := range []job{{fileCheckpoint, x.checkpoint}, {fileKeys, keys}, {filePolicy, policy}} {
		if err := x.dir.publish(f.name, f.data); err != nil {
			return err
		}
	}
	if err := x.dir.prune(); err != nil {
		return err
	}
	return x.dir.publish(fileManifest, manifest)
}
