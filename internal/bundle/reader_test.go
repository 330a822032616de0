package bundle_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"shuffled/internal/audit"
	"shuffled/internal/bundle"
)

// TestKnown is the allow-list.
func TestKnown(t *testing.T) {
	t.Parallel()
	hash := strings.Repeat("0123456789abcdef", 4)
	for path, want := range map[string]bool{
		"checkpoint": true, "manifest.json": true,
		"tile/0/000": true, "tile/6/x001/x234/067": true, "tile/0/000.p/255": true, "tile/1/x001/000.p/1": true,
		"tile/entries/000": true, "tile/entries/x001/000.p/17": true,
		"cosigned/000": true, "cosigned/000.p/3": true, "signed/x001/234": true,
		"decks/" + hash + ".txt": true,

		"": false, ".": false, "tile": false, "tile/0": false, "tile/0/": false, "tile/7/000": false,
		"tile/-1/000":   false,
		"tile/data/000": false, "tile/00/000": false, "tile/0/0": false, "tile/0/1000": false, "tile/0/x000/001": false,
		"tile/0/000.p/256": false, "tile/0/000.p/0": false, "tile/0/000.p/01": false, "tile/0/000.p": false,
		"tile/8/0/000": false, "tile/0/../checkpoint": false, "tile/entries": false, "tile/entries/000/x": false,
		"cosigned": false, "cosigned/0": false, "signed/000.p/999": false, "decks": false, "decks/x.txt": false,
		"decks/" + strings.ToUpper(hash) + ".txt": false, "decks/" + hash: false, "decks/" + hash + "00.txt": false,
		"Checkpoint": false, "keys.json": false, "policy": false, "manifest.json~": false, ".new/1": false,
		"shuffled.db": false, "main.key": false, "/checkpoint": false,
	} {
		if got := bundle.Known(path); got != want {
			t.Errorf("%q: %t", path, got)
		}
	}
}

// TestStrays: what is no bundle's is named.
func TestStrays(t *testing.T) {
	t.Parallel()
	dir := rich(t, 300).fresh()
	for _, name := range []string{"notes", "tile/0/huh", "decks/a.txt"} {
		must(t, os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), nil, 0o600))
	}
	if n, first, err := open(t, dir).Strays(); n != 3 || first != "decks/a.txt" || err != nil {
		t.Errorf("%d files, the first is %q, %v", n, first, err)
	}
}

// mapOf is a bundle in memory, for damage.
func mapOf(t testing.TB, dir string) fstest.MapFS {
	m := make(fstest.MapFS)
	for name, content := range files(t, dir) {
		m[name] = &fstest.MapFile{Data: []byte(content)}
	}
	return m
}

// TestReaderRefuses: files that are not what they should be are an error of the
// right kind, at the call that reads them.
func TestReaderRefuses(t *testing.T) {
	t.Parallel()
	dir := rich(t, 300).fresh()
	last := func(r *bundle.Reader) error {
		_, err := r.Entries(1)
		return err
	}
	tile := func(r *bundle.Reader) error {
		_, err := r.Tile(0, 0, 256)
		return err
	}
	cosigned := func(r *bundle.Reader) (err error) {
		for _, err = range r.Cosigned() {
		}
		return err
	}
	var deck [32]byte
	decks := func(r *bundle.Reader) error {
		_, err := r.Deck(deck)
		return err
	}
	manifest := func(r *bundle.Reader) error {
		_, err := r.Manifest()
		return err
	}
	size := sizeOf(t, open(t, dir)) - 256
	bundlePath := "tile/entries/001.p/" + itoa(size)
	cosignedPath := "cosigned/000.p/" + itoa(uint64(count(open(t, dir).Cosigned())))
	deckPath := ""
	for name := range files(t, dir) {
		if digits, ok := strings.CutPrefix(name, "decks/"); ok {
			b, err := hex.DecodeString(strings.TrimSuffix(digits, ".txt"))
			must(t, err)
			deck, deckPath = [32]byte(b), name
		}
	}
	set := func(name string, b []byte) func(fstest.MapFS) {
		return func(m fstest.MapFS) { m[name] = &fstest.MapFile{Data: b} }
	}
	change := func(name string, f func(b []byte) []byte) func(fstest.MapFS) {
		return func(m fstest.MapFS) { m[name] = &fstest.MapFile{Data: f(append([]byte(nil), m[name].Data...))} }
	}
	cut := func(b []byte) []byte { return b[:len(b)-1] }
	longer := func(b []byte) []byte { return append(b, 0) }
	for _, test := range []struct {
		name  string
		spoil func(fstest.MapFS)
		use   func(*bundle.Reader) error // nil: Open fails
		want  error
	}{
		{"no checkpoint", func(m fstest.MapFS) { delete(m, "checkpoint") }, nil, fs.ErrNotExist},
		{"a checkpoint that is too long", set("checkpoint", make([]byte, audit.MaxCheckpoint+1)), nil,
			audit.ErrMalformed},
		{"a checkpoint that is none", set("checkpoint", []byte("hello\n")), nil, audit.ErrMalformed},
		{"no manifest", func(m fstest.MapFS) { delete(m, "manifest.json") }, manifest, fs.ErrNotExist},
		{"a manifest that is too long", set("manifest.json", make([]byte, 64<<10+1)), manifest, audit.ErrMalformed},
		{"a later manifest", change("manifest.json", func(b []byte) []byte {
			return []byte(strings.Replace(string(b), "shuffled/v1/bundle", "shuffled/v2/bundle", 1))
		}), manifest, audit.ErrUnknown},
		{"a manifest that is a directory", func(m fstest.MapFS) {
			m["manifest.json"] = &fstest.MapFile{Mode: fs.ModeDir | 0o700}
		}, manifest, audit.ErrMalformed},
		{"a bundle that is cut", change(bundlePath, cut), last, audit.ErrMalformed},
		{"a bundle that is longer", change(bundlePath, longer), last, audit.ErrMalformed},
		{"an empty bundle", set(bundlePath, nil), last, audit.ErrMalformed},
		{"a bundle of one byte", set(bundlePath, []byte{0}), last, audit.ErrMalformed},
		{"a bundle above its limit", set(bundlePath, make([]byte, 256*65_537+1)), last, audit.ErrMalformed},
		{"no bundle", func(m fstest.MapFS) { delete(m, bundlePath) }, last, fs.ErrNotExist},
		{"a tile that is cut", change("tile/0/000", cut), tile, audit.ErrMalformed},
		{"a tile that is longer", change("tile/0/000", longer), tile, audit.ErrMalformed},
		{"no tile", func(m fstest.MapFS) { delete(m, "tile/0/000") }, tile, fs.ErrNotExist},
		{"a hole in the cosigned checkpoints", func(m fstest.MapFS) {
			m["cosigned/001.p/1"] = m[cosignedPath]
			delete(m, cosignedPath)
		}, cosigned, fs.ErrNotExist},
		{"a number of cosigned checkpoints that no ledger has", func(m fstest.MapFS) {
			m["cosigned/x999/x999/x999/x999/999"] = m[cosignedPath]
		}, cosigned, fs.ErrNotExist},
		{"cosigned checkpoints that are cut", change(cosignedPath, cut), cosigned, audit.ErrMalformed},
		{"cosigned checkpoints above their limit", set(cosignedPath, make([]byte, 256*(2+audit.MaxCheckpoint)+1)),
			cosigned, audit.ErrMalformed},
		{"a deck that is cut", change(deckPath, cut), decks, audit.ErrMalformed},
		{"another deck", set(deckPath, []byte("a\nb\n")), decks, audit.ErrMalformed},
		{"a deck of no cards", set(deckPath, []byte("\n")), decks, audit.ErrMalformed},
		{"a deck above its limit", set(deckPath, make([]byte, 4096*65+1)), decks, audit.ErrMalformed},
		{"a million lines", set(deckPath, []byte(strings.Repeat("\n", 4096*65))), decks, audit.ErrMalformed},
		{"an empty deck", set(deckPath, nil), decks, audit.ErrMalformed},
	} {
		m := mapOf(t, dir)
		test.spoil(m)
		r, err := bundle.OpenFS(m)
		if test.use != nil {
			if err != nil {
				t.Errorf("%s: %v", test.name, err)
				continue
			}
			err = test.use(r)
		}
		if !errors.Is(err, test.want) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// count returns how many checkpoints a list has.
func count(all iter.Seq2[bundle.Listed, error]) (n int) {
	for range all {
		n++
	}
	return n
}

func itoa(n uint64) string {
	s := ""
	for ; n > 0; n /= 10 {
		s = string(rune('0'+n%10)) + s
	}
	return s
}

// TestReaderBounds: what a bundle of this size cannot have is not looked for.
func TestReaderBounds(t *testing.T) {
	t.Parallel()
	dir := rich(t, 300).fresh()
	left := filepath.Join(dir, "tile", "entries", "002") // by an export that was cut
	must(t, os.WriteFile(left, make([]byte, 512), 0o600))
	r := open(t, dir)
	for _, i := range []uint64{2, 3, 1 << 53, 1<<64 - 1} {
		if _, err := r.Entries(i); err == nil {
			t.Errorf("bundle %d", i)
		}
	}
	for _, c := range []struct {
		level int
		index uint64
		width int
	}{{-1, 0, 256}, {7, 0, 1}, {0, 1 << 60, 1}, {0, 0, 0}, {0, 0, 257}, {0, 0, -1}} {
		if _, err := r.Tile(c.level, c.index, c.width); err == nil {
			t.Errorf("tile %v", c)
		}
	}
}

// TestTileOfTheFull: a reader that misses a partial tile takes the first hashes of
// the full one, as of a mirror that was copied while it grew.
func TestTileOfTheFull(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := newHouse(t)
	h.grow(bundle.Width)
	if _, err := h.export(dir); err != nil {
		t.Fatal(err)
	}
	r := open(t, dir)
	full, err := r.Tile(0, 0, bundle.Width)
	must(t, err)
	for _, width := range []int{1, 137, 255} {
		if got, err := r.Tile(0, 0, width); err != nil || !bytes.Equal(got, full[:32*width]) {
			t.Errorf("%d hashes: %v", width, err)
		}
	}
}

// TestReplacedPartial: a list whose partial file became a full one between two reads is read from that.
func TestReplacedPartial(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for i := 2; i < 12; i++ {
		h.grow(i)
		h.cosign()
	}
	m := mapOf(t, h.fresh())
	partial, ok := m["cosigned/000.p/10"]
	if !ok {
		t.Fatal("no such file")
	}
	r, err := bundle.OpenFS(m)
	must(t, err)
	if n := count(r.Cosigned()); n != 10 {
		t.Errorf("%d checkpoints", n)
	}
	delete(m, "cosigned/000.p/10")
	full := append([]byte(nil), partial.Data...)
	for range 246 {
		full = append(full, 0, 1, 'x')
	}
	m["cosigned/000"] = &fstest.MapFile{Data: full}
	n := 0
	for c, err := range r.Cosigned() {
		if err != nil || string(c.Signed) != string(h.cosigned[n].signed) {
			t.Fatalf("%d: %v", n, err)
		}
		n++
	}
	if n != 10 {
		t.Errorf("%d", n)
	}
}

// TestPipe: a named pipe in place of a file is refused, not waited for.
func TestPipe(t *testing.T) {
	t.Parallel()
	dir := rich(t, 300).fresh()
	path := filepath.Join(dir, "manifest.json")
	if err := errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600)); err != nil {
		t.Skip(err)
	}
	if _, err := open(t, dir).Manifest(); !errors.Is(err, audit.ErrMalformed) {
		t.Errorf("%v", err)
	}
}

// TestManifestVectors: one form, and values within their bounds.
func TestManifestVectors(t *testing.T) {
	t.Parallel()
	var vectors struct {
		Cases []struct{ Name, Text, Want string }
	}
	file, err := os.ReadFile("testdata/manifests.json")
	if err == nil {
		err = json.Unmarshal(file, &vectors)
	}
	if err != nil || len(vectors.Cases) < 30 {
		t.Fatalf("%d cases: %v", len(vectors.Cases), err)
	}
	want := map[string]error{"ok": nil, "malformed": audit.ErrMalformed, "unknown": audit.ErrUnknown}
	for _, c := range vectors.Cases {
		err, listed := want[c.Want]
		if _, got := bundle.ParseManifest([]byte(c.Text)); !listed || !errors.Is(got, err) {
			t.Errorf("%s: %v, want %s", c.Name, got, c.Want)
		}
	}
}

// FuzzManifest: nothing but what Marshal writes is read.
func FuzzManifest(f *testing.F) {
	b, err := os.ReadFile(filepath.Join(rich(f, 300).fresh(), "manifest.json"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := bundle.ParseManifest(b)
		if err != nil {
			return
		}
		if again, err := m.Marshal(); err != nil || string(again) != string(b) {
			t.Errorf("%q becomes %q, %v", b, again, err)
		}
	})
}
