package bundle

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
)

// Export brings the bundle in dir to the newest checkpoint of the source, and makes the bundle if there is none. The
// file of the checkpoint makes new entries part of the bundle. It is written last: the entries are on disk then, hash
// to its root, and it is signed. An export that stops leaves the bundle as it was; the next one goes on.
func Export(ctx context.Context, src Source, dir string, o Options) (result *Result, err error) {
	d, err := openDirectory(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	if o.Now == nil {
		o.Now = time.Now
	}
	x := &export{src: src, dir: d, fsys: d.root.FS(), o: o}
	x.oldKeys.Origin = o.Origin
	if err := x.begin(ctx); err != nil {
		return nil, err
	}
	err = x.run(ctx, true)
	if errors.Is(err, ErrContradiction) && x.resumed > 0 {
		// What an earlier export left unpublished may be wrong: try without it.
		err = x.run(ctx, false)
	}
	if err != nil {
		return nil, err
	}
	return x.publish(ctx)
}

// export is a running export. One goroutine owns it.
type export struct {
	src  Source
	dir  *directory
	fsys fs.FS
	o    Options

	checkpoint []byte // the store's newest, signed
	head       audit.Checkpoint

	// What the bundle has. If there is no bundle, the size is 0 and the lists are empty.
	old              audit.Checkpoint
	oldKeys          trust.History // its signing keys
	cosigned, signed *list

	// What it will have.
	edge      *Edge
	keys      trust.History     // its signing keys
	rotations []uint64          // indexes of the new entries of signing keys
	seen      map[[32]byte]bool // hashes that commits name, whose files were put or found
	tail      []byte            // the entry bundle that is not full
	resumed   uint64            // entries found in the directory
}

// begin reads both checkpoints, and where the bundle ends.
func (x *export) begin(ctx context.Context) (err error) {
	if x.checkpoint, err = x.src.Head(ctx); err != nil {
		return fmt.Errorf("reading the newest checkpoint: %w", err)
	}
	if x.head, err = x.parseCheckpoint(x.checkpoint); err != nil {
		return fmt.Errorf("%w: the newest checkpoint: %w", ErrContradiction, err)
	}
	old, err := readFile(x.fsys, fileCheckpoint, audit.MaxCheckpoint)
	if errors.Is(err, fs.ErrNotExist) {
		return x.lists()
	}
	if err == nil {
		x.old, err = audit.CheckpointText(old)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if x.old.Origin != x.o.Origin {
		return fmt.Errorf("%w: the directory holds the ledger %s, not %s", ErrDiverged, x.old.Origin, x.o.Origin)
	}
	if err := x.follows(ctx); err != nil {
		return err
	}
	if err := x.resume(old); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	// The store is asked again for the files that it did not have.
	_, err = x.missing(func(n *named, hash [32]byte) error { return x.bring(ctx, n, hash) })
	return err
}

// parseCheckpoint reads a checkpoint of the store, without its signatures.
func (x *export) parseCheckpoint(signed []byte) (audit.Checkpoint, error) {
	c, err := audit.CheckpointText(signed)
	if err == nil && (c.Origin != x.o.Origin || c.Size == 0) {
		err = fmt.Errorf("%w: the checkpoint is of %d entries of the ledger %s", audit.ErrMalformed, c.Size, quoted(c.Origin))
	}
	return c, err
}

// follows refuses a ledger that is behind the bundle or does not continue it.
func (x *export) follows(ctx context.Context) error {
	if x.head.Size < x.old.Size {
		return fmt.Errorf("%w: the store has %d entries, the bundle %d", ErrDiverged, x.head.Size, x.old.Size)
	}
	signed, err := x.src.CheckpointAfter(ctx, x.old.Size-1)
	if err != nil {
		return fmt.Errorf("reading the checkpoint of size %d: %w", x.old.Size, err)
	}
	c, err := x.parseCheckpoint(signed)
	if err != nil {
		return fmt.Errorf("%w: the checkpoint of size %d: %w", ErrContradiction, x.old.Size, err)
	}
	if c.Size != x.old.Size || c.Root != x.old.Root {
		return fmt.Errorf("%w: the store does not have the bundle's checkpoint of size %d", ErrDiverged, x.old.Size)
	}
	return nil
}

// run reads, hashes and writes the entries that the bundle does not have, and compares their root with the checkpoint.
// With reuse it takes entries from the directory that an earlier export wrote and did not publish.
func (x *export) run(ctx context.Context, reuse bool) error {
	// Files that an earlier run put must not be written after those of this run.
	if err := x.dir.settle(); err != nil {
		return err
	}
	// The entries after the last multiple of Width are read again.
	edge, err := edgeOf(x.fsys, x.old.Size-x.old.Size%Width)
	if err != nil {
		return err
	}
	x.edge, x.keys, x.rotations, x.tail, x.resumed = edge, x.oldKeys, nil, nil, 0
	x.keys.Signing = slices.Clip(x.keys.Signing)
	x.seen = make(map[[32]byte]bool)
	if reuse {
		if err := x.found(ctx); err != nil {
			return err
		}
	}
	if err := x.entries(ctx); err != nil {
		return err
	}
	root, err := x.edge.root()
	if err != nil {
		return err
	}
	if root != x.head.Root {
		return fmt.Errorf("%w: its entries do not lead to the root of its checkpoint of size %d", ErrContradiction,
			x.head.Size)
	}
	return x.checkSignature()
}

// checkSignature checks that the checkpoint to be published is signed with the keys in force.
func (x *export) checkSignature() error {
	if err := x.signedWith(&x.keys, x.checkpoint, x.head.Size); err != nil {
		return fmt.Errorf("%w: %w", ErrContradiction, err)
	}
	return nil
}

// signedWith returns an error unless all keys in force signed the checkpoint of this size.
func (x *export) signedWith(keys *trust.History, checkpoint []byte, size uint64) error {
	inForce := keys.InForce()
	for _, k := range inForce {
		name := map[byte]string{1: "Ed25519", 6: "ML-DSA-44"}[k.Public[0]]
		if _, err := audit.Verifier(x.o.Origin, k.Public); err != nil {
			return fmt.Errorf("the %s key in force at size %d is not a valid key: %w", name, size, err)
		}
		if _, err := audit.OpenCheckpoint(checkpoint, k.Key); err != nil {
			return fmt.Errorf("the checkpoint of size %d lacks the signature of the %s key in force: %w", size, name, err)
		}
	}
	if len(inForce) == 0 {
		return fmt.Errorf("no entry below size %d brings a signing key: %w", size, audit.ErrMalformed)
	}
	return nil
}

// Source is what an export reads of a store. It gives evidence and nothing else. It is not trusted: entries are hashed
// again, and nothing is published that does not lead to the signed checkpoint.
type Source interface {
	// Head returns the newest signed checkpoint.
	Head(ctx context.Context) ([]byte, error)

	// Entries reads the entries from ≤ index < to in order.
	Entries(ctx context.Context, from, to uint64) iter.Seq2[[]byte, error]

	// CheckpointAfter returns the first signed checkpoint whose size is above index.
	CheckpointAfter(ctx context.Context, index uint64) ([]byte, error)

	// Cosigned reads the cosigned checkpoints of at least size, ascending.
	Cosigned(ctx context.Context, size uint64) iter.Seq2[[]byte, error]

	// Deck returns the card names stored under a deck hash, or ErrNoDeck.
	Deck(ctx context.Context, hash [32]byte) ([]string, error)

	// Terms returns the document of terms stored under a hash, or ErrNoDeck.
	Terms(ctx context.Context, hash [32]byte) ([]byte, error)
}

// ErrNoDeck is a Source's answer for a deck or a document of terms that it does not have.
var ErrNoDeck = errors.New("the store does not have it")

// Reasons why nothing is published.
var (
	// ErrContradiction: what the store holds does not lead to its own checkpoint.
	ErrContradiction = errors.New("the store contradicts itself")
	// ErrDiverged: the store's ledger does not extend the one in the directory.
	ErrDiverged = errors.New("the store's ledger does not continue the bundle")
	// ErrDamaged: the directory does not hold what its checkpoint says.
	ErrDamaged = errors.New("the bundle in the directory is damaged")
)

// Options are what an export is asked for.
type Options struct {
	Origin   string // of the ledger
	From, To int64  // the period of the report, in UTC milliseconds; 0: no bound
	Now      func() time.Time

	// Progress, if not nil, is called from time to time, by the goroutine of Export, with
	// the number of entries that were written and of all that are to be written.
	Progress func(done, total uint64)
}

// Result is what an export did.
type Result struct {
	Size         uint64    `json:"size"`          // entries of the bundle
	Added        uint64    `json:"added"`         // of those, entries that the bundle did not have
	Resumed      uint64    `json:"resumed"`       // of those, entries that an earlier export had left in the directory
	Cosigned     uint64    `json:"cosigned"`      // checkpoints under cosigned/
	MissingDecks uint64    `json:"missing_decks"` // decks and documents of terms that the store does not have
	Manifest     *Manifest `json:"manifest"`
}
