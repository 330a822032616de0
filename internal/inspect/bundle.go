package inspect

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
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
	if errors.Is(err, fs.ErrNotExist) && strings.Contains(err.Error(), "reading manifest.json") {
		return &Bundle{damage: &Damage{fault(CodeFile, "manifest.json", "it is missing")}}, nil
	}
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
	var count uint64
	switch kind {
	case KindCosigned:
		all, dir, count = b.r.Cosigned(), "cosigned", b.r.Manifest().Cosigned
	case KindSigned:
		all, dir, count = b.r.Signed(), "signed", b.r.Manifest().Signed
	default:
		return func(func(Checkpoint, error) bool) {}
	}
	return func(yield func(Checkpoint, error) bool) {
		i := uint64(0)
		for signed, err := range all {
			if err != nil {
				yield(Checkpoint{}, damaged(placeOf(dir, err), err))
				return
			}
			file := tileName(-1, i/Width, int(min(Width, count-i/Width*Width)))
			where := fmt.Sprintf("%s%s, number %d", dir, strings.TrimPrefix(file, "tile/entries"), i%Width)
			i++
			// One that cannot be read is for the caller to name.
			if c, err := audit.CheckpointText(signed); err == nil && c.Size < from {
				continue
			}
			if !yield(Checkpoint{signed, where}, nil) {
				return
			}
		}
		if b.cut() {
			yield(Checkpoint{}, ErrUntold)
		}
	}
}

// cut reports whether an export was cut between the checkpoint and the manifest:
// counts, keys.json and policy may then be of an older bundle (docs/SPEC.md
// section 13.5).
func (b *Bundle) cut() bool {
	h := sha256.Sum256(b.r.Checkpoint())
	return b.r.Manifest().Digests.Checkpoint != base64.StdEncoding.EncodeToString(h[:])
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
	if s.Broken || s.Genesis == nil {
		return nil, []string{"manifest.json, keys.json and policy were not compared: entries are missing"}, nil
	}
	if b.cut() {
		return b.older(*m, s)
	}
	if notes, err = b.strays(); err != nil {
		return nil, nil, err
	}
	keys := bundle.NewKeys(s.Genesis.Origin)
	for _, k := range s.Keys {
		keys.Apply(k.Index, k.Entry)
	}
	vkey, err := audit.VKey(s.Genesis.Origin, keys.SigningKey())
	if err != nil {
		return nil, notes, nil // named at the key's entry
	}
	if from, to, _ := b.Period(); (from != 0 || to != 0) && (from != s.From || to != s.To) {
		notes = append(notes, fmt.Sprintf("the manifest names another period, from %q to %q: it bounds nothing, --from and --to do", m.Period.From, m.Period.To))
	}
	faults, err = b.views(keys, s, vkey)
	return append(faults, b.manifest(*m, s, vkey)...), notes, err
}

// older compares what a cut export left: a manifest of a smaller checkpoint of this
// very ledger, and keys.json and policy as of then or as of now (docs/SPEC.md section
// 13.5). Anything else is no cut export.
func (b *Bundle) older(m bundle.Manifest, s Summary) (faults []Fault, notes []string, err error) {
	if !s.Held {
		return nil, []string{"manifest.json, keys.json and policy were not compared: the checkpoint does not hold"}, nil
	}
	if m.Size == 0 || m.Size >= s.Size {
		return []Fault{fault(CodeManifest, "manifest.json", "its digest of checkpoint is another, and its size, %d, is not below the checkpoint's, as after a cut export", m.Size)}, nil, nil
	}
	root, err := b.r.RootAt(m.Size)
	if err != nil {
		if errors.As(damaged("tile", err), new(*Damage)) {
			return nil, []string{"manifest.json, keys.json and policy were not compared: tiles are missing"}, nil
		}
		return nil, nil, err
	}
	then, now := bundle.NewKeys(s.Genesis.Origin), bundle.NewKeys(s.Genesis.Origin)
	policies := []string{""}
	for _, k := range s.Keys {
		if now.Apply(k.Index, k.Entry); k.Index < m.Size {
			then.Apply(k.Index, k.Entry)
		}
		switch body := k.Entry.Body.(type) {
		case *audit.Genesis:
			policies = append(policies, string(body.Policy))
		case *audit.Key:
			if body.Subject == audit.SubjectPolicy {
				policies = append(policies, string(body.Policy))
			}
		}
	}
	vkey, err1 := audit.VKey(s.Genesis.Origin, then.SigningKey())
	newVKey, err2 := audit.VKey(s.Genesis.Origin, now.SigningKey())
	if errors.Join(err1, err2) != nil {
		return nil, nil, nil // named at the key's entry
	}
	for _, x := range []struct {
		member   string
		says, is any
	}{
		{"origin", m.Origin, s.Genesis.Origin},
		{"production", m.Production, s.Genesis.Production},
		{"root", m.Root, root.String()},
		{"vkey", m.VKey, vkey},
	} {
		if x.says != x.is {
			faults = append(faults, fault(CodeManifest, "manifest.json", "%s is %v at its size, %d, not %v", x.member, x.is, m.Size, x.says))
		}
	}
	keys := []func() (bool, error){func() (bool, error) { return b.sameKeys(then) }, func() (bool, error) { return b.sameKeys(now) }}
	var policy []func() (bool, error)
	for _, text := range policies {
		policy = append(policy, func() (bool, error) { return b.samePolicy(text, vkey) }, func() (bool, error) { return b.samePolicy(text, newVKey) })
	}
	for name, ways := range map[string][]func() (bool, error){"keys.json": keys, "policy": policy} {
		x, err := oneOf(name, ways)
		if err != nil {
			return faults, nil, err
		}
		if x != nil {
			faults = append(faults, *x)
		}
	}
	return faults, []string{fmt.Sprintf("the manifest is of an older checkpoint, of size %d, as after an export that was cut: the next export writes it anew", m.Size)}, nil
}

// oneOf returns the fault of a file that is none of what it may be.
func oneOf(name string, ways []func() (bool, error)) (*Fault, error) {
	for _, same := range ways {
		ok, err := same()
		var d *Damage
		switch {
		case errors.As(err, &d):
			return &d.Fault, nil
		case ok || err != nil:
			return nil, err
		}
	}
	x := fault(CodeView, name, "it is not what the entries say, neither of the manifest's size nor of the checkpoint's")
	return &x, nil
}

func (b *Bundle) strays() (notes []string, err error) {
	count, first := 0, ""
	err = b.r.Strays(func(path string) {
		if count++; first == "" {
			first = path
		}
	})
	if count > 0 {
		notes = append(notes, fmt.Sprintf("%d files are no part of a bundle and were not looked at, the first is %q", count, audit.Printable(first)))
	}
	return notes, err
}

// views compares the files that say what the entries say, and what the manifest
// says of them.
func (b *Bundle) views(keys *bundle.Keys, s Summary, vkey string) (faults []Fault, err error) {
	named := make(map[string]bool)
	var unknown error
	for _, v := range []struct {
		name string
		same func() (bool, error)
		what string
	}{
		{"keys.json", func() (bool, error) { return b.sameKeys(keys) }, "it is not what the key entries say"},
		{"policy", func() (bool, error) { return b.samePolicy(s.Policy, vkey) }, "it is not the signing key and the witness policy in force"},
	} {
		if v.name == "policy" && s.Unsure {
			continue
		}
		same, err := v.same()
		var d *Damage
		switch {
		case errors.As(err, &d):
			faults = append(faults, d.Fault)
		case errors.Is(err, audit.ErrUnknown):
			unknown = err
		case err != nil:
			return faults, err
		case !same:
			faults = append(faults, fault(CodeView, v.name, "%s", v.what))
		default:
			continue
		}
		named[v.name] = true
	}
	altered, err := b.r.Altered()
	if errors.As(damaged("", err), new(*Damage)) {
		return faults, unknown // it was named
	}
	for _, name := range altered {
		if !named[name] {
			faults = append(faults, fault(CodeManifest, "manifest.json", "its digest of %s is another", name))
		}
	}
	return faults, errors.Join(unknown, err)
}

func (b *Bundle) sameKeys(keys *bundle.Keys) (bool, error) {
	want, err := keys.Marshal()
	if err != nil {
		return false, err
	}
	kept, err := b.r.Keys()
	if err != nil {
		return false, damaged("keys.json", err)
	}
	got, err := kept.Marshal()
	return string(got) == string(want), err
}

// samePolicy compares the file of the policy in force: the signing key as its
// log, and the witnesses.
func (b *Bundle) samePolicy(text, vkey string) (bool, error) {
	got, err := b.r.Policy()
	if err != nil {
		return false, damaged("policy", err)
	}
	lines := []string{"log " + vkey}
	for line := range strings.SplitSeq(text, "\n") {
		if f := strings.Fields(line); len(f) > 0 && f[0] != "log" {
			lines = append(lines, line)
		}
	}
	if len(lines) == 1 {
		lines = append(lines, "quorum none")
	}
	return string(got) == strings.Join(lines, "\n")+"\n", nil
}

// manifest compares what the manifest says of the ledger. How many checkpoints it
// has is what was read: one too few is missed elsewhere.
func (b *Bundle) manifest(m bundle.Manifest, s Summary, vkey string) (faults []Fault) {
	if !s.Held { // it was named, and what is said of it is not compared
		m.Root = tlog.Hash(s.Root).String()
	}
	if s.Deckless > 0 { // they were named
		s.Deckless = m.Deckless
	}
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
		{"deckless", m.Deckless, s.Deckless},
		{"period.first", m.Period.First, s.PeriodFirst},
		{"period.entries", m.Period.Entries, s.PeriodEntries},
	} {
		if x.says != x.is {
			faults = append(faults, fault(CodeManifest, "manifest.json", "%s is %v, not %v", x.member, x.is, x.says))
		}
	}
	// Clocks differ, as between witnesses and the house.
	if _, _, at := b.Period(); at < s.Newest-audit.WitnessGrace {
		faults = append(faults, fault(CodeManifest, "manifest.json", "exported_at is %s, and what was exported is from %s", m.ExportedAt, formatTime(s.Newest)))
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
