package inspect

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"strings"
	"syscall"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
	"shuffled/internal/bundle"
	"shuffled/internal/shuffle"
)

// Width is the number of entries in a chunk: those of one tile (C2SP tlog-tiles).
const Width = 256

// A Source holds the evidence of one ledger. Chunk, Tile, Deck and Terms are called by
// several goroutines at once; what they return is not changed afterwards.
//
// If the evidence is not as it should be, the error is a *Damage. It becomes a fault,
// and the check goes on without that piece. Any other error ends the check.
type Source interface {
	// Newest returns the newest checkpoint: what the ledger is judged up to.
	Newest(ctx context.Context) (Checkpoint, error)

	// Chunk returns the entries from n·Width on, width of them.
	Chunk(ctx context.Context, n uint64, width int) (Chunk, error)

	// Tile returns width hashes of a tile, and where they are kept. For a tile that the
	// source does not keep it returns nil and no error.
	Tile(ctx context.Context, level int, index uint64, width int) (hashes []byte, where string, err error)

	// Checkpoints returns the checkpoints of a kind, by ascending size, from
	// size from on. It ends with the first error.
	Checkpoints(ctx context.Context, kind Kind, from uint64) iter.Seq2[Checkpoint, error]

	// Deck returns the deck with a hash.
	Deck(ctx context.Context, hash [32]byte) (shuffle.Deck, error)

	// Terms returns a document of terms, and where it is kept. The caller checks that it has the hash.
	Terms(ctx context.Context, hash [32]byte) (document []byte, where string, err error)

	// Finish is called once, at the end. It compares everything else that the source
	// keeps with what the entries say. Notes say what could not be compared.
	Finish(ctx context.Context, s Summary) (faults []Fault, notes []string, err error)
}

// Chunk is consecutive entries.
type Chunk struct {
	Where   string   // the file or table
	Entries [][]byte // exact bytes; nil for one that the source does not have
	Faults  []Fault  // what reading them showed

	// Parsed, if not nil, returns what else is wrong with an entry. It is called in order
	// for each entry that parses and is the ledger's, by one goroutine.
	Parsed func(index uint64, e audit.Entry) []Fault
}

// Checkpoint is a signed checkpoint and where it is kept.
type Checkpoint struct {
	Signed []byte
	Where  string
}

// Kind says what a checkpoint is kept for.
type Kind int

// The kinds of checkpoints that a source may keep.
const (
	KindCosigned Kind = iota // cosigned by witnesses
	KindSigned               // first to cover the entry of a signing key
	KindHead                 // signed with a batch
	kinds
)

// Of these kinds there is one checkpoint each: the ledger's newest, and that of Options.Since.
const (
	kindNewest Kind = kinds + iota
	kindSince
)

// Summary is what a ledger's entries say, for Source.Finish.
type Summary struct {
	Keys *trust.History // as entries say them
	// Newest is the time of the newest entry, in UTC milliseconds. If the newest quorum that
	// the caller trusts was complete later, it is that time.
	Newest   int64
	From, To int64 // the report's period, as in Options
}

// Damage is evidence that is not as it should be, as the error of a Source.
type Damage struct{ Fault }

func (d *Damage) Error() string { return d.Code + " " + d.Where + ": " + d.Detail }

// Bundle is a bundle as a Source (docs/SPEC.md section 13).
type Bundle struct {
	r        *bundle.Reader
	damage   *Damage          // why it could not be opened
	manifest *bundle.Manifest // nil: unread says why
	unread   *Fault
}

// OpenBundle opens the bundle in dir. It returns no error if the checkpoint or the manifest is damaged: Run then
// reports that as a fault. A manifest of a later version is an error.
func OpenBundle(dir string) (*Bundle, error) {
	r, err := bundle.Open(dir)
	if errors.Is(err, audit.ErrMalformed) {
		why := strings.TrimPrefix(err.Error(), dir+": ") // the path of the directory stays out of reports
		return &Bundle{damage: &Damage{fault(CodeCheckpoint, "checkpoint", "%s", why)}}, nil
	}
	if err != nil {
		return nil, err
	}
	b := &Bundle{r: r}
	if b.manifest, err = r.Manifest(); err != nil {
		var d *Damage
		if !errors.As(damaged(CodeFile, "manifest.json", err), &d) {
			return nil, errors.Join(err, r.Close())
		}
		b.unread = &d.Fault
		if errors.Is(err, audit.ErrMalformed) {
			b.unread.Code = CodeManifest
		}
	}
	return b, nil
}

// Close ends the reading.
func (b *Bundle) Close() error { return b.r.Close() }

// Newest implements Source.
func (b *Bundle) Newest(context.Context) (Checkpoint, error) {
	if b.damage != nil {
		return Checkpoint{}, b.damage
	}
	return Checkpoint{b.r.Checkpoint(), "checkpoint"}, nil
}

// Chunk implements Source.
func (b *Bundle) Chunk(_ context.Context, n uint64, width int) (Chunk, error) {
	c := Chunk{Where: bundle.TilePath(bundle.LevelEntries, n, width)}
	var err error
	c.Entries, err = b.r.Entries(n)
	return c, damaged(CodeFile, c.Where, err)
}

// Tile implements Source.
func (b *Bundle) Tile(_ context.Context, level int, index uint64, width int) ([]byte, string, error) {
	where := bundle.TilePath(level, index, width)
	data, err := b.r.Tile(level, index, width)
	return data, where, damaged(CodeFile, where, err)
}

// damaged turns an error into a *Damage if the evidence is at fault: a file is missing,
// malformed, or on a damaged disk. It returns any other error unchanged.
func damaged(code, where string, err error) error {
	for _, is := range []error{fs.ErrNotExist, audit.ErrMalformed, syscall.EIO} {
		if errors.Is(err, is) {
			why := strings.TrimPrefix(err.Error(), "reading "+where+": ")
			if is == fs.ErrNotExist {
				why = "it is missing"
			}
			return &Damage{fault(code, where, "%s", why)}
		}
	}
	return err
}

// Checkpoints implements Source.
func (b *Bundle) Checkpoints(_ context.Context, kind Kind, from uint64) iter.Seq2[Checkpoint, error] {
	return func(yield func(Checkpoint, error) bool) {
		all := map[Kind]iter.Seq2[bundle.Listed, error]{KindCosigned: b.r.Cosigned(), KindSigned: b.r.Signed()}[kind]
		if all == nil {
			return
		}
		for c, err := range all {
			// The caller names one that cannot be read, or that covers no entry.
			head, malformed := audit.CheckpointText(c.Signed)
			small := err == nil && malformed == nil && head.Size > 0 && head.Size < from
			where := fmt.Sprintf("%s, number %d", c.File, c.Number)
			if !small && !yield(Checkpoint{c.Signed, where}, damaged(CodeFile, c.File, err)) {
				return
			}
		}
	}
}

// Deck implements Source.
func (b *Bundle) Deck(_ context.Context, hash [32]byte) (shuffle.Deck, error) {
	deck, err := b.r.Deck(hash)
	return deck, damaged(CodeDeck, fmt.Sprintf("decks/%x.txt", hash), err)
}

// Terms implements Source.
func (b *Bundle) Terms(_ context.Context, hash [32]byte) ([]byte, string, error) {
	where := fmt.Sprintf("terms/%x", hash)
	document, err := b.r.Terms(hash)
	return document, where, damaged(CodeTerms, where, err)
}

// Finish implements Source. It checks the manifest, and notes the files that are no part of a bundle.
func (b *Bundle) Finish(_ context.Context, s Summary) (faults []Fault, notes []string, err error) {
	strays, first, err := b.r.Strays()
	if err != nil {
		return nil, nil, err
	}
	if strays > 0 {
		notes = append(notes, fmt.Sprintf("%d files are no part of a bundle and were not looked at, the first is %q",
			strays, audit.Printable(first)))
	}
	if b.unread != nil {
		return []Fault{*b.unread}, notes, nil
	}
	from, to, at := b.manifest.Times()
	if (from != 0 || to != 0) && (from != s.From || to != s.To) {
		notes = append(notes, fmt.Sprintf(
			"the manifest names another period, from %q to %q: it bounds nothing, --from and --to do",
			b.manifest.Period.From, b.manifest.Period.To))
	}
	// Clocks differ, as between witnesses and the house.
	if at < s.Newest-trust.WitnessGrace {
		faults = append(faults, fault(CodeManifest, "manifest.json",
			"exported_at is %s, and what was exported is from %s", b.manifest.ExportedAt, bundle.FormatTime(s.Newest)))
	}
	return faults, notes, nil
}
