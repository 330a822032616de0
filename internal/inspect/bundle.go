package inspect

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"strings"
	"syscall"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/bundle"
)

// Bundle is a bundle as a Source (docs/SPEC.md section 13).
type Bundle struct {
	r      *bundle.Reader
	damage *Damage // why it could not be opened
}

// OpenBundle opens the bundle in dir. One whose checkpoint or manifest is
// damaged opens, too: that is what Run then finds.
func OpenBundle(dir string) (*Bundle, error) {
	r, err := bundle.Open(dir)
	if errors.Is(err, audit.ErrMalformed) {
		d := &Damage{fault(CodeManifest, "manifest.json", "%v", cutDir(dir, err))}
		if !strings.Contains(err.Error(), "reading manifest.json") {
			d = &Damage{fault(CodeCheckpoint, "checkpoint", "%v", cutDir(dir, err))}
		}
		return &Bundle{damage: d}, nil
	}
	if err != nil {
		return nil, err
	}
	return &Bundle{r: r}, nil
}

// cutDir keeps the place of the directory out of reports.
func cutDir(dir string, err error) string { return strings.TrimPrefix(err.Error(), dir+": ") }

// Close ends the reading.
func (b *Bundle) Close() error {
	if b.r == nil {
		return nil
	}
	return b.r.Close()
}

// Manifest returns what the bundle says of itself, nil when that cannot be read.
func (b *Bundle) Manifest() *bundle.Manifest {
	if b.r == nil {
		return nil
	}
	return b.r.Manifest()
}

// Newest implements Source.
func (b *Bundle) Newest(context.Context) (Checkpoint, error) {
	if b.damage != nil {
		return Checkpoint{}, b.damage
	}
	return Checkpoint{b.r.Checkpoint(), "checkpoint"}, nil
}

// Chunk implements Source.
func (b *Bundle) Chunk(_ context.Context, n uint64, width int) (Chunk, error) {
	c := Chunk{Where: tileName(-1, n, width)}
	var err error
	if c.Entries, err = b.r.Entries(n); err != nil {
		c.Entries = nil
		return c, damaged(c.Where, err)
	}
	return c, nil
}

// Tile implements Source.
func (b *Bundle) Tile(_ context.Context, level int, index uint64, width int) ([]byte, string, error) {
	where := tileName(level, index, width)
	data, err := b.r.Tile(level, index, width)
	if err != nil {
		return nil, where, damaged(where, err)
	}
	return data, where, nil
}

// tileName is the name of a tile's file, or at level -1 of a file of entries.
func tileName(level int, index uint64, width int) string {
	p := strings.TrimPrefix(tlog.Tile{H: 8, L: level, N: int64(index), W: width}.Path(), "tile/8/")
	if level < 0 {
		p = "entries" + strings.TrimPrefix(p, "data")
	}
	return "tile/" + p
}

// damaged tells what is wrong with the evidence from what is wrong with the
// machine.
func damaged(where string, err error) error {
	for _, is := range []error{fs.ErrNotExist, audit.ErrMalformed, syscall.EIO} {
		if errors.Is(err, is) {
			why := strings.TrimPrefix(err.Error(), "reading "+where+": ")
			if is == fs.ErrNotExist {
				why = "it is missing"
			}
			return &Damage{fault(CodeFile, where, "%s", why)}
		}
	}
	return err
}

// Checkpoints implements Source.
func (b *Bundle) Checkpoints(_ context.Context, kind Kind, from uint64) iter.Seq2[Checkpoint, error] {
	var all iter.Seq2[[]byte, error]
	var dir string
	switch kind {
	case KindCosigned:
		all, dir = b.r.Cosigned(), "cosigned"
	case KindSigned:
		all, dir = b.r.Signed(), "signed"
	default:
		return func(func(Checkpoint, error) bool) {}
	}
	return func(yield func(Checkpoint, error) bool) {
		i := 0
		for signed, err := range all {
			if err != nil {
				yield(Checkpoint{}, damaged(placeOf(dir, err), err))
				return
			}
			where := fmt.Sprintf("%s, checkpoint %d", dir, i)
			i++
			// One that cannot be read is for the caller to name.
			if c, err := audit.CheckpointText(signed); err == nil && c.Size < from {
				continue
			}
			if !yield(Checkpoint{signed, where}, nil) {
				return
			}
		}
	}
}

// placeOf returns the file that an error of bundle.Reader names.
func placeOf(otherwise string, err error) string {
	if rest, ok := strings.CutPrefix(err.Error(), "reading "); ok {
		name, _, _ := strings.Cut(rest, ": ")
		return name
	}
	return otherwise
}

// Deck implements Source.
func (b *Bundle) Deck(_ context.Context, hash [32]byte) ([]string, string, error) {
	where := fmt.Sprintf("decks/%x.txt", hash)
	cards, err := b.r.Deck(hash)
	if err != nil {
		err = damaged(where, err)
		var d *Damage
		if errors.As(err, &d) {
			d.Code = CodeDeck
		}
		return nil, where, err
	}
	return cards, where, nil
}

// Finish implements Source: the files that only say what the entries say.
func (b *Bundle) Finish(_ context.Context, s Summary) (faults []Fault, notes []string, err error) {
	m := b.r.Manifest()
	if m.Size < s.Size {
		return nil, []string{fmt.Sprintf("an export was cut: the manifest is of %d entries, and what it says was not checked", m.Size)}, nil
	}
	if s.Broken || s.Genesis == nil {
		return nil, []string{"manifest.json, keys.json and policy were not compared: entries are missing"}, nil
	}
	if notes, err = b.strays(); err != nil {
		return nil, nil, err
	}
	keys, err := b.views(s, &faults)
	if err != nil {
		return nil, nil, err
	}
	vkey, err := audit.VKey(s.Genesis.Origin, keys.SigningKey())
	if err != nil {
		return faults, notes, nil // named at the key's entry
	}
	if err := b.policy(s, vkey, &faults); err != nil {
		return nil, nil, err
	}
	return append(faults, b.manifest(m, s, vkey)...), notes, nil
}

func (b *Bundle) strays() (notes []string, err error) {
	count, first := 0, ""
	err = b.r.Strays(func(path string) {
		if count++; first == "" {
			first = path
		}
	})
	if count > 0 {
		notes = append(notes, fmt.Sprintf("%d files are no part of a bundle and were not looked at, the first is %q", count, printable(first)))
	}
	return notes, err
}

// views compares keys.json, and the digests of the small files.
func (b *Bundle) views(s Summary, faults *[]Fault) (*bundle.Keys, error) {
	keys := bundle.NewKeys(s.Genesis.Origin)
	for _, k := range s.Keys {
		keys.Apply(k.Index, k.Entry)
	}
	want, err := keys.Marshal()
	if err != nil {
		return nil, err
	}
	add := func(err error, where string) error {
		var d *Damage
		if err = damaged(where, err); errors.As(err, &d) {
			*faults = append(*faults, d.Fault)
			return nil
		}
		return err
	}
	kept, err := b.r.Keys()
	if err != nil {
		return keys, add(err, "keys.json")
	}
	got, err := kept.Marshal()
	if err != nil {
		return nil, err
	}
	if string(got) != string(want) {
		*faults = append(*faults, fault(CodeView, "keys.json", "it is not what the key entries say"))
		return keys, nil
	}
	altered, err := b.r.Altered()
	if err != nil {
		return keys, add(err, placeOf("policy", err))
	}
	for _, name := range altered {
		*faults = append(*faults, fault(CodeManifest, "manifest.json", "its digest of %s is another", name))
	}
	return keys, nil
}

// policy compares the file of the policy in force.
func (b *Bundle) policy(s Summary, vkey string, faults *[]Fault) error {
	got, err := b.r.Policy()
	if err != nil {
		var d *Damage
		if err = damaged("policy", err); errors.As(err, &d) {
			return nil // named by views
		}
		return err
	}
	lines := []string{"log " + vkey}
	for line := range strings.SplitSeq(s.Policy, "\n") {
		if f := strings.Fields(line); len(f) > 0 && f[0] != "log" {
			lines = append(lines, line)
		}
	}
	if len(lines) == 1 {
		lines = append(lines, "quorum none")
	}
	if string(got) != strings.Join(lines, "\n")+"\n" {
		*faults = append(*faults, fault(CodeView, "policy", "it is not the signing key and the witness policy in force"))
	}
	return nil
}

// manifest compares what the manifest says of the ledger.
func (b *Bundle) manifest(m *bundle.Manifest, s Summary, vkey string) (faults []Fault) {
	if from, to, _ := b.Period(); from != s.From || to != s.To {
		s.PeriodFirst, s.PeriodEntries = m.Period.First, m.Period.Entries // of a report on another period
	}
	for _, x := range []struct {
		member string
		says   any
		is     any
	}{
		{"origin", m.Origin, s.Genesis.Origin},
		{"production", m.Production, s.Genesis.Production},
		{"size", m.Size, s.Size},
		{"root", m.Root, tlog.Hash(s.Root).String()},
		{"vkey", m.VKey, vkey},
		{"cosigned", m.Cosigned, s.Cosigned},
		{"signed", m.Signed, s.Rotations},
		{"deckless", m.Deckless, s.Deckless},
		{"period.first", m.Period.First, s.PeriodFirst},
		{"period.entries", m.Period.Entries, s.PeriodEntries},
	} {
		if x.says != x.is {
			faults = append(faults, fault(CodeManifest, "manifest.json", "%s is %v, not %v", x.member, x.is, x.says))
		}
	}
	return faults
}

// Period returns what the manifest says of the report's time, UTC milliseconds, 0
// for no bound; at is when the bundle was written.
func (b *Bundle) Period() (from, to, at int64) {
	m := b.Manifest()
	if m == nil {
		return 0, 0, 0
	}
	parse := func(s string) int64 {
		t, err := time.Parse(time.RFC3339, s)
		if err != nil {
			return 0
		}
		return t.UnixMilli()
	}
	return parse(m.Period.From), parse(m.Period.To), parse(m.ExportedAt)
}
