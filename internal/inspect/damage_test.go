package inspect

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/bundle"
	"shuffled/internal/inspect/inspecttest"
)

// damages are what a disk, a hasty hand or somebody without the keys does to an honest bundle.
var damages = []struct {
	name string
	do   func(b *broken)
	want []string
}{
	{"none", func(*broken) {}, nil},
	{"a stray file", func(b *broken) { b.write("tile/0/notes.txt", []byte("x")) }, nil},

	// Entries.
	{"a bit of an entry", func(b *broken) { b.flip("tile/entries/001", 3000) }, []string{"entry"}},
	{"a bit of the genesis", func(b *broken) { b.flip("tile/entries/000", 40) }, []string{"entry"}},
	{"two entries of one length exchanged", func(b *broken) { b.swap("tile/entries/001") }, []string{"entry", "entry"}},
	{"entries cut short", func(b *broken) { b.cut("tile/entries/001", -1) }, []string{"file"}},
	{"entries missing", func(b *broken) { b.remove("tile/entries/001") }, []string{"file"}},
	{"the last entries missing", func(b *broken) { b.remove(b.tail("tile/entries")) }, []string{"file"}},
	{"the tail dropped, with its tile", func(b *broken) {
		b.remove(b.tail("tile/entries"))
		b.remove(b.tail("tile/0"))
	}, []string{"file", "file"}},
	{"entries and their tile missing", func(b *broken) { b.remove("tile/entries/001"); b.remove("tile/0/001") },
		[]string{"file", "file"}},
	{"two files of entries exchanged", func(b *broken) { b.exchange("tile/entries/000", "tile/entries/001") },
		slices.Repeat([]string{"entry"}, 512)},

	// Tiles.
	{"a bit of a tile", func(b *broken) { b.flip("tile/0/001", 99) }, []string{"tile"}},
	{"a bit of the last tile", func(b *broken) { b.flip(b.tail("tile/0"), 3) }, []string{"tile"}},
	{"a bit of a tile above", func(b *broken) { b.flip(b.tail("tile/1"), 3) }, []string{"tile"}},
	{"a tile missing", func(b *broken) { b.remove("tile/0/000") }, []string{"file"}},
	{"a tile above missing", func(b *broken) { b.remove(b.tail("tile/1")) }, []string{"file"}},
	{"a tile cut short", func(b *broken) { b.cut("tile/0/000", 8191) }, []string{"file"}},
	{"an entry and a tile", func(b *broken) { b.flip("tile/entries/001", 3000); b.flip("tile/0/001", 99) },
		[]string{"entry", "tile"}},
	{"an entry and a tile at the edge", func(b *broken) {
		b.flip(b.tail("tile/entries"), 300)
		b.flip(b.tail("tile/0"), 199)
	}, []string{"entry", "tile"}},

	// Checkpoints.
	{"a checkpoint with CRLF", func(b *broken) { b.edit("checkpoint", "\n", "\r\n") }, []string{"checkpoint"}},
	{"a checkpoint of another root", func(b *broken) { b.editLine("checkpoint", 2, tlog.Hash{1}.String()) },
		[]string{"signature"}},
	{"cosigned checkpoints cut short", func(b *broken) { b.cut(b.tail("cosigned"), -1) }, []string{"file"}},
	{"cosigned checkpoints of another number", func(b *broken) {
		b.write("cosigned/000.p/255", b.read(b.tail("cosigned")))
	}, []string{"file"}},
	{"a signature of a cosigned checkpoint", func(b *broken) { b.flipNote(b.tail("cosigned"), 5, 0) },
		[]string{"signature"}},
	{"a larger size of a cosigned checkpoint", func(b *broken) { b.sizeNote(b.tail("cosigned"), 5, "700") },
		[]string{"checkpoint"}},
	{"a smaller size of a cosigned checkpoint", func(b *broken) { b.sizeNote(b.tail("cosigned"), 5, "3") },
		[]string{"checkpoint"}},
	{"a cosignature", func(b *broken) { b.flipNote(b.tail("cosigned"), 5, 1) }, []string{"quorum"}},
	{"checkpoints of signing keys missing", func(b *broken) { b.remove(b.tail("signed")) }, []string{"rotation"}},
	{"a signature line more", func(b *broken) { b.add("checkpoint", "— someone AAAAAAAA\n") }, []string{"checkpoint"}},

	// The manifest and decks.
	{"a manifest that repeats what entries say",
		func(b *broken) { b.edit("manifest.json", `"period"`, `"production":true,"period"`) }, []string{"manifest"}},
	{"an empty manifest", func(b *broken) { b.cut("manifest.json", 0) }, []string{"manifest"}},
	{"a manifest and an entry", func(b *broken) { b.cut("manifest.json", 0); b.flip("tile/entries/001", 3000) },
		[]string{"entry", "manifest"}},
	{"a deck missing", func(b *broken) { b.remove(b.deck()) }, []string{"deck"}},
	{"another card in a deck", func(b *broken) { b.edit(b.deck(), "Kc\n", "Ks\n") }, []string{"deck"}},
	{"terms missing", func(b *broken) { b.remove(b.wheel()) }, []string{"terms"}},
	{"empty terms", func(b *broken) { b.cut(b.wheel(), 0) }, []string{"terms"}},
	{"a weight of a wheel", func(b *broken) { b.flip(b.wheel(), 13) }, []string{"terms"}},
	{"terms cut short", func(b *broken) { b.cut(b.wheel(), -1) }, []string{"terms"}},
	{"terms of another kind under the hash", func(b *broken) {
		b.write(b.wheel(), inspecttest.PayTable().Bytes())
	}, []string{"terms"}},
	{"terms and a deck", func(b *broken) { b.remove(b.wheel()); b.remove(b.deck()) }, []string{"deck", "terms"}},
	{"a deck without its last line end", func(b *broken) { b.cut(b.deck(), -1) }, []string{"deck"}},
}

// broken is a copy of an honest bundle.
type broken struct {
	t   testing.TB
	dir string
}

var honest struct {
	sync.Once
	dir string
}

func newBroken(t testing.TB) *broken {
	t.Helper()
	honest.Do(func() {
		dir, err := os.MkdirTemp("", "inspect")
		must(t, err)
		inspecttest.Honest(dir, 150).Finish()
		honest.dir = dir
	})
	b := &broken{t, t.TempDir()}
	must(t, os.CopyFS(b.dir, os.DirFS(honest.dir)))
	return b
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (b *broken) path(name string) string { return filepath.Join(b.dir, filepath.FromSlash(name)) }

func (b *broken) read(name string) []byte {
	b.t.Helper()
	data, err := os.ReadFile(b.path(name))
	must(b.t, err)
	return data
}

func (b *broken) write(name string, data []byte) {
	b.t.Helper()
	must(b.t, os.MkdirAll(filepath.Dir(b.path(name)), 0o755))
	must(b.t, os.WriteFile(b.path(name), data, 0o644))
}

func (b *broken) remove(name string)    { must(b.t, os.Remove(b.path(name))) }
func (b *broken) add(name, more string) { b.write(name, append(b.read(name), more...)) }

func (b *broken) flip(name string, i int) {
	data := b.read(name)
	data[i] ^= 0x10
	b.write(name, data)
}

// cut keeps n bytes, or all but −n.
func (b *broken) cut(name string, n int) {
	data := b.read(name)
	if n < 0 {
		n += len(data)
	}
	b.write(name, data[:n])
}

func (b *broken) edit(name, from, to string) {
	data := b.read(name)
	after := bytes.Replace(data, []byte(from), []byte(to), 1)
	if bytes.Equal(data, after) {
		b.t.Fatalf("%s has no %q", name, from)
	}
	b.write(name, after)
}

func (b *broken) editLine(name string, n int, to string) {
	lines := strings.Split(string(b.read(name)), "\n")
	lines[n] = to
	b.write(name, []byte(strings.Join(lines, "\n")))
}

func (b *broken) exchange(one, two string) {
	x, y := b.read(one), b.read(two)
	b.write(one, y)
	b.write(two, x)
}

// tail is the file at the right edge of a directory.
func (b *broken) tail(dir string) string {
	files, err := filepath.Glob(b.path(dir) + "/*.p/*")
	must(b.t, err)
	if len(files) != 1 {
		b.t.Fatalf("%s has %d partial files", dir, len(files))
	}
	name, err := filepath.Rel(b.dir, files[0])
	must(b.t, err)
	return filepath.ToSlash(name)
}

func (b *broken) wheel() string { return fmt.Sprintf("terms/%x", inspecttest.Wheel().Hash()) }

func (b *broken) deck() string {
	files, err := filepath.Glob(b.path("decks") + "/*")
	must(b.t, err)
	i := slices.IndexFunc(files, func(f string) bool {
		data, err := os.ReadFile(f)
		return err == nil && bytes.Count(data, []byte("\n")) == 52
	})
	name, err := filepath.Rel(b.dir, files[i])
	must(b.t, err)
	return filepath.ToSlash(name)
}

// frames takes a framed file apart.
func (b *broken) frames(name string) (frames [][]byte) {
	for data := b.read(name); len(data) > 0; {
		n := 2 + int(data[0])<<8 + int(data[1])
		frames, data = append(frames, data[:n]), data[n:]
	}
	return frames
}

// swap exchanges two entries of one length.
func (b *broken) swap(name string) {
	frames := b.frames(name)
	for i := range frames {
		for j := range i {
			if len(frames[i]) == len(frames[j]) && !bytes.Equal(frames[i], frames[j]) {
				frames[i], frames[j] = frames[j], frames[i]
				b.write(name, bytes.Join(frames, nil))
				return
			}
		}
	}
	b.t.Fatal("no two entries have one length")
}

// flipEntry damages an entry in a file of them.
func (b *broken) flipEntry(name string, n int) {
	frames := b.frames(name)
	frames[n][20] ^= 0x10
	b.write(name, bytes.Join(frames, nil))
}

// flipNote damages signature line n of a note in a file of them.
func (b *broken) flipNote(name string, note, n int) {
	frames := b.frames(name)
	lines := strings.Split(string(frames[note]), "\n")
	line := []byte(lines[4+n])
	if at := len(line) - 20; line[at] == 'A' {
		line[at] = 'B'
	} else {
		line[at] = 'A'
	}
	lines[4+n] = string(line)
	frames[note] = []byte(strings.Join(lines, "\n"))
	b.write(name, bytes.Join(frames, nil))
}

// strip takes the lines of ML-DSA-44 from the newest checkpoint, or from a note in a file of them.
func (b *broken) strip(name string, note int) {
	lines := func(text []byte) []byte {
		kept := slices.DeleteFunc(strings.SplitAfter(string(text), "\n"),
			func(line string) bool { return strings.HasPrefix(line, "— ") && len(line) > 3000 })
		return []byte(strings.Join(kept, ""))
	}
	if name == "checkpoint" {
		b.write(name, lines(b.read(name)))
		return
	}
	frames := b.frames(name)
	text := lines(frames[note][2:])
	if len(text)+2 == len(frames[note]) {
		b.t.Fatalf("note %d of %s has no line of ML-DSA-44", note, name)
	}
	frames[note] = append([]byte{byte(len(text) >> 8), byte(len(text))}, text...)
	b.write(name, bytes.Join(frames, nil))
}

// sizeNote gives a note in a file of them another size.
func (b *broken) sizeNote(name string, note int, size string) {
	frames := b.frames(name)
	lines := strings.Split(string(frames[note][2:]), "\n")
	lines[1] = size
	text := strings.Join(lines, "\n")
	frames[note] = append([]byte{byte(len(text) >> 8), byte(len(text))}, text...)
	b.write(name, bytes.Join(frames, nil))
}

func TestDamages(t *testing.T) {
	t.Parallel()
	if len(damages) < 25 {
		t.Fatalf("only %d damages", len(damages))
	}
	for _, test := range damages {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := newBroken(t)
			test.do(b)
			opts := trusting()
			r := inspectDir(t, b.dir, opts)
			wantFaults(t, r, test.want)
			for _, f := range r.Faults {
				if f.Entry == nil && f.Where == "" {
					t.Errorf("the fault %s has no place", f.Code)
				}
			}
		})
	}
}

// TestForgedTree: what stands on nothing that is signed is found by nothing but the checkpoint.
func TestForgedTree(t *testing.T) {
	t.Parallel()
	write := func(game string) *inspecttest.Ledger {
		l := inspecttest.New(t.TempDir(), "one", inspecttest.Plain())
		for i := range 300 {
			s := l.Commit("t1", func(s *inspecttest.Shuffle) {
				if i == 100 {
					s.Commit.GameRef = game
				}
			})
			s.Last(2, 0)
		}
		l.Finish()
		return l
	}
	one, other := write("game-1"), write("game-2")
	wantFaults(t, inspectDir(t, other.Dir, trusting()), nil)
	for _, name := range []string{"checkpoint", "manifest.json"} {
		data, err := os.ReadFile(filepath.Join(one.Dir, name))
		must(t, err)
		must(t, os.WriteFile(filepath.Join(other.Dir, name), data, 0o644))
	}
	wantFaults(t, inspectDir(t, other.Dir, trusting()), []string{"root"})
}

// TestAnotherKey: a ledger that is signed by somebody else, as a whole or only at its head.
func TestAnotherKey(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	l.hand("t1")
	l.Finish(inspecttest.Key("thief"))
	wantFaults(t, inspectDir(t, l.Dir, trusting()), []string{"signature"})

	g := inspecttest.Plain()
	g.SigningKey = inspecttest.Public(inspecttest.Key("thief"))
	whole := inspecttest.New(t.TempDir(), "thief", g)
	whole.Commit("t1").Last(2, 0)
	whole.Finish(inspecttest.Key("thief"))
	r := inspectDir(t, whole.Dir, Options{VKey: inspecttest.VKey()})
	if r.FaultCodes[CodePinned] != 1 {
		t.Errorf("faults %v", r.FaultCodes)
	}

	l = newLedger(t)
	l.Finish()
	never := inspecttest.NewLongKey(inspecttest.Origin, "never").VKey()
	policy := "log " + inspecttest.VKey() + "\nlog " + never + "\nquorum none\n"
	r = inspectDir(t, l.Dir, Options{Policy: []byte(policy)})
	id := strings.Join(strings.Split(never, "+")[:2], "+")
	want := "the trusted ML-DSA-44 key " + id + " is not in force at the newest"
	if r.FaultCount != 1 || !strings.HasPrefix(r.Faults[0].Detail, want) {
		t.Errorf("faults %+v, want %q", r.Faults, want)
	}
}

// TestSizes: a checkpoint can name any size. What is not there is looked for in few places, and named once.
func TestSizes(t *testing.T) {
	t.Parallel()
	for _, size := range []uint64{5000, 1 << 40, 1<<53 - 1} {
		l := inspecttest.New(t.TempDir(), "small", inspecttest.Plain())
		l.Commit("t1").Last(2, 0)
		l.Finish()
		big := audit.Checkpoint{Origin: inspecttest.Origin, Size: size, Root: l.Root()}
		must(t, os.WriteFile(filepath.Join(l.Dir, "checkpoint"),
			inspecttest.Sign(big.Text(), inspecttest.Key("signing 0")), 0o644))
		r := inspectDir(t, l.Dir, trusting())
		if r.Verdict != Failed || r.FaultCodes[CodeMissing] != 1 || r.FaultCount > 4*maxGap {
			t.Errorf("size %d: %s, faults %v", size, r.Verdict, r.FaultCodes)
		}
	}
}

// TestSince: an older checkpoint, kept by somebody else, is held against the ledger.
func TestSince(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	var old, fork, unsigned []byte
	for i := range 120 {
		l.hand("t1")
		if i == 77 {
			old = l.Signed()
			unsigned = l.Signed(inspecttest.Key("thief"))
			c := audit.Checkpoint{Origin: inspecttest.Origin, Size: l.Size, Root: tlog.Hash{1}}
			fork = inspecttest.Sign(c.Text(), inspecttest.Key("signing 0"))
		}
	}
	l.Rotate()
	l.Finish()
	c := audit.Checkpoint{Origin: inspecttest.Origin, Size: l.Size + 1, Root: l.Root()}
	larger := inspecttest.Sign(c.Text(), inspecttest.Key("signing 0"))
	c.Origin, c.Size = "inspect.example/other", 5
	another := bytes.Replace(inspecttest.Sign(c.Text(), inspecttest.Key("signing 0")), []byte("— "+inspecttest.Origin),
		[]byte("— "+c.Origin), 1)
	for _, test := range []struct {
		name  string
		since []byte
		want  []string
	}{
		{"extended", old, nil},
		{"the newest", l.Signed(), nil},
		{"a fork", fork, []string{"since"}},
		{"not signed by the house", unsigned, []string{"since"}},
		{"larger than the newest", larger, []string{"since"}},
		{"of another ledger", another, []string{"since"}},
	} {
		opts := trusting()
		opts.Since = test.since
		t.Run(test.name, func(t *testing.T) { wantFaults(t, inspectDir(t, l.Dir, opts), test.want) })
	}
}

// TestPolicies: the level and the quorum are the trusted policy's.
func TestPolicies(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	l.hand("t1")
	open := l.Commit("t2")
	l.Cosigned("w1", "w2")
	open.Deal(1, l.Size)
	late := l.Commit("t3")
	l.Cosigned("w2", "w3")
	late.Deal(1, l.Size)
	l.see()
	l.Finish()
	for _, test := range []struct {
		name      string
		policy    []byte
		witnessed uint64
		want      []string
	}{
		{"the ledger's", inspecttest.Policy(true, 2, "w1", "w2", "w3"), 3, nil},
		{"w1 alone", inspecttest.Policy(true, 1, "w1"), 2, nil},
		{"all three", inspecttest.Policy(true, 3, "w1", "w2", "w3"), 1, nil},
		{"others", inspecttest.Policy(true, 1, "x1"), 0, []string{"quorum"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := inspectDir(t, l.Dir, Options{Policy: test.policy})
			wantFaults(t, r, test.want)
			if got := r.Totals.Levels[LevelWitnessed]; got != test.witnessed {
				t.Errorf("%d witnessed, want %d: %v", got, test.witnessed, r.Totals.Levels)
			}
		})
	}
}

// TestNoCosigned: of a list that cannot be read nothing is left open because of lines of an unknown type.
func TestNoCosigned(t *testing.T) {
	t.Parallel()
	b := newBroken(t)
	b.cut(b.tail("cosigned"), -1)
	if r := inspectDir(t, b.dir, Options{Policy: inspecttest.Policy(true, 2, "w1", "w2", "w3")}); len(r.Unknown) > 0 {
		t.Errorf("%q", r.Unknown)
	}
}

// TestMixedExports: the files of two exports of one ledger. What is above the checkpoint was left by an export that was
// cut or copied, and is not looked at; what is missing below it is found.
func TestMixedExports(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	l.hand("t1")
	l.Rotate()
	l.Finish()
	older := filepath.Join(t.TempDir(), "older")
	must(t, os.CopyFS(older, os.DirFS(l.Dir)))
	l.hand("t1")
	l.Finish()
	for name, test := range map[string]struct {
		old   []string // files of the older export
		spoil func(b *broken)
		want  []string
		note  bool
	}{
		"the older checkpoint":              {[]string{"checkpoint"}, nil, nil, true},
		"the older checkpoint and manifest": {[]string{"checkpoint", "manifest.json"}, nil, nil, true},
		"the older checkpoint, and a list that nobody signed": {[]string{"checkpoint"}, func(b *broken) {
			tail := newestList(b, "cosigned")
			b.flipNote(tail, len(b.frames(tail))-1, 0)
		}, []string{"checkpoint_size"}, false},
		"the newest cosigned checkpoints missing": {nil, func(b *broken) { b.remove(newestList(b, "cosigned")) },
			[]string{"cosigned_missing", "cosigned_missing"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := &broken{t, filepath.Join(t.TempDir(), "bundle")}
			must(t, os.CopyFS(b.dir, os.DirFS(l.Dir)))
			for _, file := range test.old {
				data, err := os.ReadFile(filepath.Join(older, file))
				must(t, err)
				b.write(file, data)
			}
			if test.spoil != nil {
				test.spoil(b)
			}
			r := inspectDir(t, b.dir, trusting())
			wantFaults(t, r, test.want)
			if got := strings.Contains(strings.Join(r.Notes, " "), "nothing above was looked at"); got != test.note {
				t.Errorf("notes %q", r.Notes)
			}
		})
	}
}

// newestList is the file with the most checkpoints of a list.
func newestList(b *broken, dir string) (name string) {
	files, err := filepath.Glob(b.path(dir) + "/000.p/*")
	must(b.t, err)
	most := 0
	for _, f := range files {
		rel, err := filepath.Rel(b.dir, f)
		must(b.t, err)
		if n := len(b.frames(filepath.ToSlash(rel))); n > most {
			most, name = n, filepath.ToSlash(rel)
		}
	}
	return name
}

// TestExportTime: a bundle is not older than what is in it.
func TestExportTime(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	l.hand("t1")
	l.Finish()
	name := filepath.Join(l.Dir, "manifest.json")
	b, err := os.ReadFile(name)
	must(t, err)
	for after, want := range map[int64][]string{-10_001: {"manifest"}, -10_000: nil, 0: nil} {
		at := `"exported_at":"` + bundle.FormatTime(l.Now+after) + `"`
		must(t, os.WriteFile(name, regexp.MustCompile(`"exported_at":"[^"]*"`).ReplaceAll(b, []byte(at)), 0o600))
		wantFaults(t, inspectDir(t, l.Dir, trusting()), want)
	}
}

// TestOneFileDoesNotStop: a link out of the bundle, or a file that is missing, is a fault, and the report goes on.
func TestOneFileDoesNotStop(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	l.hand("t1")
	l.Finish()
	copied := func(t *testing.T) string {
		dir := filepath.Join(t.TempDir(), "bundle")
		must(t, os.CopyFS(dir, os.DirFS(l.Dir)))
		return dir
	}
	t.Run("a deck is a link out", func(t *testing.T) {
		dir := copied(t)
		decks, err := filepath.Glob(filepath.Join(dir, "decks", "*"))
		must(t, err)
		must(t, os.Remove(decks[0]))
		must(t, os.Symlink("/etc/passwd", decks[0]))
		wantFaults(t, inspectDir(t, dir, trusting()), []string{"deck"})
	})
	t.Run("the directory of decks is a link out", func(t *testing.T) {
		dir := copied(t)
		must(t, os.RemoveAll(filepath.Join(dir, "decks")))
		must(t, os.Symlink("/etc", filepath.Join(dir, "decks")))
		wantFaults(t, inspectDir(t, dir, trusting()), []string{"deck"})
	})
	t.Run("a manifest of a later version", func(t *testing.T) {
		dir := copied(t)
		must(t, os.WriteFile(filepath.Join(dir, "manifest.json"), []byte(`{"format":"shuffled/v2/bundle"}`), 0o600))
		if _, err := OpenBundle(dir); !errors.Is(err, audit.ErrUnknown) {
			t.Errorf("a later version: %v", err)
		}
	})
}
