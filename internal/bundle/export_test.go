package bundle_test

import (
	"bytes"
	"context"
	"crypto/ecdh"
	"encoding/base64"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/torchwood"
	"github.com/google/go-cmp/cmp"
	fnote "github.com/transparency-dev/formats/note"
	"go.uber.org/goleak"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/bundle"
	"shuffled/internal/shuffle"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// edges are sizes around the ends of tiles of the first two levels.
var edges = []int{1, 2, 3, 255, 256, 257, 511, 512, 513, 1000, 65_535, 65_536, 65_537, 65_792, 65_793}

// TestGrowth: a bundle that grows by every step is the same as one made at once,
// has the tiles that tlog and torchwood say, and nothing else.
func TestGrowth(t *testing.T) {
	t.Parallel()
	h, grown := newHouse(t), t.TempDir()
	for _, size := range edges {
		h.grow(size)
		added := h.mustExport(grown).Added
		dir := h.fresh()
		same(t, grown, dir)
		holds(t, h, dir)
		if again := h.mustExport(grown); again.Added != 0 || added == 0 {
			t.Errorf("%d entries added, then %d", added, again.Added)
		}
		same(t, grown, dir)
	}
}

// holds reads a bundle of h with what is not ours.
func holds(t *testing.T, h *house, dir string) {
	t.Helper()
	r := open(t, dir)
	if sizeOf(t, r) != h.size() || string(r.Checkpoint()) != string(h.heads[len(h.heads)-1].signed) {
		t.Errorf("the bundle has size %d", sizeOf(t, r))
	}
	want := map[string]bool{"checkpoint": true, "manifest.json": true}
	for _, tile := range tlog.NewTiles(8, 0, int64(h.size())) {
		data, err := tlog.ReadTileData(tile, tlog.HashReaderFunc(h.readHashes))
		must(t, err)
		got, err := r.Tile(tile.L, uint64(tile.N), tile.W)
		if err != nil || !bytes.Equal(got, data) {
			t.Errorf("tile %v: %v", tile, err)
		}
		want[torchwood.TilePath(tile)] = true
		if tile.L == 0 {
			tile.L = -1
			want[torchwood.TilePath(tile)] = true
		}
	}
	n := uint64(0)
	for i := range (sizeOf(t, r) + bundle.Width - 1) / bundle.Width {
		entries, err := r.Entries(i)
		must(t, err)
		for _, e := range entries {
			if n >= h.size() || !bytes.Equal(e, h.entries[n]) {
				t.Fatalf("entry %d is another", n)
			}
			n++
		}
	}
	if n != h.size() {
		t.Errorf("%d entries of %d", n, h.size())
	}
	for _, name := range sorted(files(t, dir)) {
		if !want[name] || !bundle.Known(name) {
			t.Errorf("%s is in the bundle", name)
		}
		delete(want, name)
	}
	for name := range want {
		t.Errorf("%s is not in the bundle", name)
	}
}

func open(t testing.TB, dir string) *bundle.Reader {
	t.Helper()
	r, err := bundle.Open(dir)
	must(t, err)
	t.Cleanup(func() { r.Close() })
	return r
}

// sizeOf returns the size that a bundle's checkpoint says.
func sizeOf(t testing.TB, r *bundle.Reader) uint64 {
	t.Helper()
	c, err := audit.CheckpointText(r.Checkpoint())
	must(t, err)
	return c.Size
}

// rich returns a ledger with everything that a bundle shows: rotated keys, policies, decks, cosigned checkpoints.
func rich(t testing.TB, size int) *house {
	h := newHouse(t)
	h.commit("A", "B", "C")
	h.add(&audit.Key{Subject: audit.SubjectPolicy, Policy: []byte(h.policy)})
	h.sign()
	h.cosign()
	auditor, err := ecdh.P256().GenerateKey(nil)
	must(t, err)
	h.add(&audit.Key{Subject: audit.SubjectAuditor, Public: append([]byte{1}, auditor.PublicKey().Bytes()...)})
	h.add(&audit.Key{Subject: audit.SubjectRetirement, Retired: audit.SubjectAuditor, ID: [32]byte{9},
		From: start.UnixMilli()})
	h.sign()
	h.rotate()
	h.cosign()
	h.add(&audit.Commit{Context: &audit.Context{Origin: origin, Production: true, Table: "d",
		Recipe: shuffle.Recipe{Ranges: []uint32{6, 6}}, Disclosure: audit.DisclosurePublic}, Serial: 1,
		CloseBy: start.UnixMilli()})
	for int(h.size()) < size {
		h.grow(min(size, int(h.size())+40))
		h.cosign()
	}
	h.commit("Q♥", "K♥")
	h.rotate()
	h.cosign()
	return h
}

// TestContent: manifest, decks and checkpoints of a bundle.
func TestContent(t *testing.T) {
	t.Parallel()
	h := rich(t, 600)
	r := open(t, h.fresh())
	for hash, cards := range h.decks {
		if got, err := r.Deck(hash); err != nil || !cmp.Equal(got.Cards(), cards) {
			t.Errorf("deck %q: %q, %v", cards, got.Cards(), err)
		}
	}
	if n := len(h.decks); n != 2 {
		t.Errorf("%d decks", n)
	}
	if _, err := r.Deck([32]byte{1}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a deck that is not there: %v", err)
	}
	list := func(all iter.Seq2[bundle.Listed, error]) (list []string) {
		for c, err := range all {
			must(t, err)
			list = append(list, string(c.Signed))
		}
		return list
	}
	var cosigned []string
	for _, c := range h.cosigned {
		cosigned = append(cosigned, string(c.signed))
	}
	if diff := cmp.Diff(cosigned, list(r.Cosigned())); diff != "" || len(cosigned) < 10 {
		t.Errorf("cosigned:\n%s", diff)
	}
	signed := list(r.Signed())
	if len(signed) != 2 || strings.Count(signed[0], "— "+origin) != 2 ||
		signed[1] != string(h.heads[len(h.heads)-1].signed) {
		t.Errorf("signed: %q", signed)
	}
	if string(r.Checkpoint()) != cosigned[len(cosigned)-1] {
		t.Error("the checkpoint is not the cosigned one")
	}
	if m, err := r.Manifest(); err != nil ||
		*m != (bundle.Manifest{Format: bundle.ManifestFormat, ExportedAt: "2026-11-21T00:00:00.000Z"}) {
		t.Errorf("manifest %+v, %v", m, err)
	}
}

// TestManyCosigned: the list of cosigned checkpoints across the ends of its files,
// and one that came after its entries were exported.
func TestManyCosigned(t *testing.T) {
	t.Parallel()
	h, dir := newHouse(t), t.TempDir()
	for _, n := range []int{1, 9, 12, 255, 256, 257, 511, 512, 513, 514} {
		for len(h.cosigned) < n {
			h.grow(int(h.size()) + 1)
			h.cosign()
		}
		late := h.cosigned[len(h.cosigned)-1]
		if h.cosigned = h.cosigned[:n-1]; n%2 == 0 {
			h.cosigned = append(h.cosigned, late)
		}
		h.mustExport(dir)
		if n%2 != 0 {
			h.cosigned = append(h.cosigned, late)
		}
		h.mustExport(dir)
		same(t, dir, h.fresh())
		i := 0
		for c, err := range open(t, dir).Cosigned() {
			if err != nil || string(c.Signed) != string(h.cosigned[i].signed) {
				t.Fatalf("%d of %d: %v", i, n, err)
			}
			i++
		}
		if i != n {
			t.Errorf("%d of %d", i, n)
		}
	}
}

// TestLateLines: a cosignature that came after an export stands in the next one, with the checkpoint
// of the same size, as long as the file of that checkpoint is not full; and with the newest one.
func TestLateLines(t *testing.T) {
	t.Parallel()
	h, dir := newHouse(t), t.TempDir()
	skey, _ := h.generate("late.example/witness")
	late, err := fnote.NewSignerForCosignatureV1(skey)
	must(t, err)
	join := func(i int) {
		c := &h.cosigned[i]
		joined, err := bundle.Joined(c.signed, h.checkpoint(c.size, h.signer, late).signed)
		must(t, err)
		c.signed = joined
	}
	for range 258 {
		h.grow(int(h.size()) + 1)
		h.cosign()
	}
	h.mustExport(dir)
	join(257)
	h.mustExport(dir) // of the same size: the bundle's checkpoint has the line, too
	same(t, dir, h.fresh())
	if newest := files(t, dir)["checkpoint"]; !strings.Contains(newest, "— late.example/witness ") {
		t.Errorf("the newest checkpoint is\n%s", newest)
	}
	h.grow(int(h.size()) + 1)
	h.cosign()
	join(256)
	h.mustExport(dir)
	same(t, dir, h.fresh())

	join(0) // of a full file: it stays
	h.mustExport(dir)
	for c, err := range open(t, dir).Cosigned() {
		if err != nil || strings.Contains(string(c.Signed), "— late.example") {
			t.Errorf("%v: %s", err, c.Signed)
		}
		break
	}
	newest := &h.cosigned[len(h.cosigned)-1]
	text := audit.Checkpoint{Origin: origin, Size: newest.size, Root: tlog.Hash{1}}.Text()
	if newest.signed, err = note.Sign(&note.Note{Text: text}, h.signer, late); err != nil {
		t.Fatal(err)
	}
	if _, err := h.export(dir); !errors.Is(err, bundle.ErrContradiction) {
		t.Errorf("two texts of one size: %v", err)
	}
}

// TestJoinedKeys: of two lines of one key the first stays, so that neither keeps a ledger from being exported.
func TestJoinedKeys(t *testing.T) {
	t.Parallel()
	root := audit.Checkpoint{Origin: "ledger.example", Size: 1}.Text() + "\n"
	line := func(name, sig string) string {
		return "— " + name + " " + base64.StdEncoding.EncodeToString([]byte("key1"+sig)) + "\n"
	}
	own := root + line("ledger.example", "own")
	for _, c := range [][3]string{
		{own + line("w", "1"), own + line("w", "2"), own + line("w", "1")},
		{own, own + line("w", "1") + line("w", "2"), own + line("w", "1")},
		{own + line("w", "1"), own + line("v", "2") + line("w", "3"), own + line("w", "1") + line("v", "2")},
	} {
		if joined, err := bundle.Joined([]byte(c[0]), []byte(c[1])); err != nil || string(joined) != c[2] {
			t.Errorf("%q and %q are %q, %v", c[0], c[1], joined, err)
		}
	}
}

// TestPeriod: from and to stand in the manifest and bound nothing.
func TestPeriod(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.grow(700)
	dir, at := t.TempDir(), start.UnixMilli()
	for _, test := range []struct {
		from, to int64
		want     bundle.Period
	}{
		{0, 0, bundle.Period{}},
		{at, 0, bundle.Period{From: "2026-10-31T23:00:00.000Z"}},
		{0, at + 1, bundle.Period{To: "2026-10-31T23:00:00.001Z"}},
		{at, at + 3_600_000, bundle.Period{From: "2026-10-31T23:00:00.000Z", To: "2026-11-01T00:00:00.000Z"}},
	} {
		o := options()
		o.From, o.To = test.from, test.to
		r, err := bundle.Export(t.Context(), h, dir, o)
		if err != nil || r.Size != 700 || r.Manifest.Period != test.want {
			t.Errorf("%v to %v: %+v, %v", test.from, test.to, r, err)
		}
		if m, err := open(t, dir).Manifest(); err != nil || m.Period != test.want || sizeOf(t, open(t, dir)) != 700 {
			t.Errorf("%+v, %v", m, err)
		}
	}
	o := options()
	o.From, o.To = at, at
	if _, err := bundle.Export(t.Context(), h, dir, o); !errors.Is(err, audit.ErrMalformed) {
		t.Errorf("a period that ends where it begins: %v", err)
	}
}

// refusals are sources that an export believes nothing of. want is the error, and
// the bundle in the directory stays as it was.
var refusals = []struct {
	name  string
	want  error
	spoil func(h *house)
}{
	{"an entry that was changed", bundle.ErrContradiction,
		func(h *house) { h.entries[620] = append([]byte(nil), h.entries[621]...) }},
	{"two entries that changed places", bundle.ErrContradiction,
		func(h *house) { h.entries[640], h.entries[641] = h.entries[641], h.entries[640] }},
	{"an entry of which a byte is missing", bundle.ErrContradiction,
		func(h *house) { h.entries[700] = h.entries[700][1:] }},
	{"an empty entry", bundle.ErrContradiction, func(h *house) { h.entries[700] = nil }},
	{"an entry that no file can hold", bundle.ErrContradiction,
		func(h *house) { h.entries[700] = make([]byte, 65_536) }},
	{"a missing entry", bundle.ErrContradiction, func(h *house) { h.entries = h.entries[:len(h.entries)-1] }},
	{"a head of another root", bundle.ErrContradiction, func(h *house) {
		h.heads = append(h.heads, head{h.size(), h.note(h.size(), tlog.Hash{1})})
	}},
	{"a head that is too small", bundle.ErrDiverged, func(h *house) { h.heads = []head{h.checkpoint(100, h.signer)} }},
	{"a head of size 0", bundle.ErrContradiction, func(h *house) { h.heads = []head{{0, h.note(0, tlog.Hash{})}} }},
	{"a head that is no checkpoint", bundle.ErrContradiction,
		func(h *house) { h.heads = []head{{9, []byte("hello")}} }},
	{"a head signed by an earlier key", bundle.ErrContradiction, func(h *house) {
		old := h.signer
		h.rotate()
		h.heads[len(h.heads)-1] = h.checkpoint(h.size(), old)
	}},
	{"a head signed by nobody known", bundle.ErrContradiction, func(h *house) {
		h.newSigner(origin)
		h.sign()
	}},
	{"another ledger", bundle.ErrContradiction, func(h *house) {
		h.newSigner("bundle.example/other")
		c := audit.Checkpoint{Origin: "bundle.example/other", Size: h.size()}
		h.heads = []head{{h.size(), h.text(c.Text())}}
	}},
	{"a checkpoint table without the bundle's", bundle.ErrDiverged, func(h *house) {
		h.grow(900)
		h.heads = h.heads[len(h.heads)-1:]
	}},
	{"a rewritten ledger", bundle.ErrDiverged, func(h *house) {
		other := rich(h.t, 600)
		other.grow(900)
		*h = *other
	}},
	{"a cosigned checkpoint of another root", bundle.ErrContradiction, func(h *house) {
		h.cosigned = append(h.cosigned, head{h.size(), h.note(h.size(), tlog.Hash{1})})
	}},
	{"cosigned checkpoints out of order", bundle.ErrContradiction, func(h *house) {
		h.cosigned = append(h.cosigned, h.checkpoint(700, h.signer), h.checkpoint(690, h.signer))
	}},
	{"a cosigned checkpoint that is none", bundle.ErrContradiction, func(h *house) {
		h.cosigned = append(h.cosigned, head{h.size(), []byte("hello")})
	}},
	{"a cosigned head without the ledger's signature", bundle.ErrContradiction, func(h *house) {
		h.cosigned = append(h.cosigned, h.checkpoint(h.size(), h.witness))
	}},
	{"a first checkpoint of a key with another root", bundle.ErrContradiction, func(h *house) {
		h.rotate()
		h.heads[len(h.heads)-1] = head{h.size(), h.note(h.size(), tlog.Hash{1})}
		h.grow(int(h.size()) + 1)
	}},
}

// text signs any text as the ledger would.
func (h *house) text(text string) []byte {
	signed, err := note.Sign(&note.Note{Text: text}, h.signer)
	must(h.t, err)
	return signed
}

func (h *house) note(size uint64, root tlog.Hash) []byte {
	return h.text(audit.Checkpoint{Origin: origin, Size: size, Root: root}.Text())
}

// TestRefusals: nothing is published that does not hold, and what was published stays, byte for byte.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, test := range refusals {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			h, dir := rich(t, 600), t.TempDir()
			h.mustExport(dir)
			before := files(t, dir)
			h.grow(800)
			honest := *h
			honest.entries, honest.heads, honest.cosigned = clone(h.entries), clone(h.heads), clone(h.cosigned)
			test.spoil(h)
			for range 2 { // the second finds what the first left
				if _, err := h.export(dir); !errors.Is(err, test.want) {
					t.Fatalf("exported: %v", err)
				}
			}
			now := files(t, dir)
			for name, content := range before {
				if now[name] != content {
					t.Errorf("%s changed", name)
				}
			}
			// Once the store is mended the export goes on.
			honest.mustExport(dir)
			same(t, dir, honest.fresh())
		})
	}
}

func clone[T any](s []T) []T { return append([]T(nil), s...) }

// TestResume: an export that is stopped anywhere goes on at its last whole entry
// bundle, and ends as if nothing had been.
func TestResume(t *testing.T) {
	t.Parallel()
	h := rich(t, 2000)
	want := h.fresh()
	stop := errors.New("stopped")
	dir := t.TempDir()
	h.read = func(index uint64) error {
		if index == 1700 {
			return stop
		}
		return nil
	}
	if _, err := h.export(dir); !errors.Is(err, stop) {
		t.Fatal(err)
	}
	if _, err := bundle.Open(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a bundle before it is published: %v", err)
	}
	first := ^uint64(0)
	h.read = func(index uint64) error { first = min(first, index); return nil }
	r := h.mustExport(dir)
	if first != 1536 || r.Resumed != 1536 || r.Added != h.size() {
		t.Errorf("read from %d on, resumed %d, added %d", first, r.Resumed, r.Added)
	}
	same(t, dir, want)
	// A second export reads what the first did not have, and what shares its file.
	h.grow(2500)
	h.cosign()
	first = ^uint64(0)
	r = h.mustExport(dir)
	if size := uint64(2002); first != size/256*256 || r.Added != 2500-size || r.Resumed != 0 {
		t.Errorf("read from %d on, resumed %d, added %d", first, r.Resumed, r.Added)
	}
	same(t, dir, h.fresh())
}

// TestResumeFromDamage: what a cut export left is no evidence. Damaged, it is written again.
func TestResumeFromDamage(t *testing.T) {
	t.Parallel()
	h := rich(t, 2000)
	want := h.fresh()
	stop := errors.New("stopped")
	for name, damage := range map[string]func(path string) error{
		"cut":     func(path string) error { return os.Truncate(path, 100) },
		"empty":   func(path string) error { return os.Truncate(path, 0) },
		"missing": os.Remove,
		"changed": func(path string) error {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			b[50] ^= 1
			return os.WriteFile(path, b, 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			h.read = func(index uint64) error {
				if index == 1700 {
					return stop
				}
				return nil
			}
			if _, err := h.export(dir); !errors.Is(err, stop) {
				t.Fatal(err)
			}
			h.read = nil
			must(t, damage(filepath.Join(dir, "tile", "entries", "002")))
			h.mustExport(dir)
			same(t, dir, want)
		})
	}
}

// TestCutWhilePublished: an export that is cut before its last file, the checkpoint, leaves the bundle as it was: what
// the lists have more is above its size. The next export writes what is missing and nothing else is left.
func TestCutWhilePublished(t *testing.T) {
	t.Parallel()
	for _, first := range []bool{false, true} {
		t.Run(fmt.Sprintf("first %t", first), func(t *testing.T) {
			t.Parallel()
			h, dir := rich(t, 500), t.TempDir()
			path := filepath.Join(dir, "manifest.json")
			var before *bundle.Result
			if !first {
				before = h.mustExport(dir)
				must(t, os.Remove(path))
			}
			honest := *h
			honest.entries, honest.heads, honest.cosigned = clone(h.entries), clone(h.heads), clone(h.cosigned)
			for len(h.cosigned) < bundle.Width+7 {
				h.grow(int(h.size()) + 1)
				h.cosign()
			}
			h.rotate()
			h.cosign()
			// A directory in its place stops the export there.
			must(t, os.MkdirAll(filepath.Join(path, "x"), 0o700))
			if _, err := h.export(dir); err == nil {
				t.Fatal("exported")
			}
			must(t, os.RemoveAll(path))
			if !first {
				wasCut(t, dir, before)
			}
			h = &honest // a store that has not seen what the cut export saw
			h.grow(int(h.size()) + 3)
			h.cosign()
			h.mustExport(dir)
			if r := open(t, dir); count(r.Cosigned()) != len(h.cosigned) || count(r.Signed()) != 2 {
				t.Error("other checkpoints are listed")
			}
			h.grow(900)
			h.rotate()
			h.mustExport(dir)
			same(t, dir, h.fresh())
		})
	}
}

// wasCut looks at a bundle of which a later export was cut.
func wasCut(t *testing.T, dir string, before *bundle.Result) {
	t.Helper()
	r := open(t, dir)
	c, err := audit.CheckpointText(r.Checkpoint())
	if err != nil || c.Size != before.Size {
		t.Fatalf("size %d, not %d, %v", c.Size, before.Size, err)
	}
	n := uint64(0)
	for listed, err := range r.Cosigned() {
		must(t, err)
		at, err := audit.CheckpointText(listed.Signed)
		if n++; err != nil || (n <= before.Cosigned) != (at.Size <= c.Size) {
			t.Errorf("number %d has size %d, %v", n, at.Size, err)
		}
	}
	if n != bundle.Width+8 {
		t.Errorf("%d cosigned checkpoints", n)
	}
}

// TestLeftPartials: partial files of an export that was cut before its checkpoint go when the full ones come.
func TestLeftPartials(t *testing.T) {
	t.Parallel()
	h, dir := rich(t, 300), t.TempDir()
	blocked := filepath.Join(dir, "cosigned", fmt.Sprintf("000.p/%d", len(h.cosigned)))
	must(t, os.MkdirAll(filepath.Join(blocked, "x"), 0o700))
	if _, err := h.export(dir); err == nil {
		t.Fatal("exported")
	}
	must(t, os.RemoveAll(blocked))
	if _, err := os.Stat(filepath.Join(dir, "tile", "0", "001.p")); err != nil {
		t.Fatalf("void: %v", err)
	}
	h.grow(600)
	h.mustExport(dir)
	same(t, dir, h.fresh())
}

// TestDamaged: an export adds nothing to a bundle whose right edge or checkpoint is damaged, and says so.
func TestDamaged(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"checkpoint", "tile/0/002.p/90", "tile/1/000.p/2", "cosigned/000.p/18"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, dir := rich(t, 600), t.TempDir()
			h.mustExport(dir)
			path := filepath.Join(dir, filepath.FromSlash(name))
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatalf("%v: %v", err, sorted(files(t, dir)))
			}
			b[30] ^= 0x80
			if strings.HasPrefix(name, "cosigned") {
				b = b[1:]
			}
			must(t, os.WriteFile(path, b, 0o600))
			h.grow(700)
			if _, err := h.export(dir); !errors.Is(err, bundle.ErrDamaged) {
				t.Errorf("exported: %v", err)
			}
		})
	}
}

// TestForgedKeys: the signing key in force is taken from an entry, which stands under
// the root, and has signed the checkpoint.
func TestForgedKeys(t *testing.T) {
	t.Parallel()
	for name, forge := range map[string]func(h *house, dir string){
		"another key in the entry": func(h *house, dir string) {
			h.newSigner(origin)
			key := h.entries[len(h.entries)-1]
			e, err := audit.ParseEntry(key)
			must(t, err)
			e.Body.(*audit.Key).Public[5] ^= 1
			forged, err := e.Encode()
			must(t, err)
			edit(t, filepath.Join(dir, "tile", "entries", "001.p", fmt.Sprint(h.size()-256)), string(key),
				string(forged))
		},
		"the last rotation is missing": func(h *house, dir string) {
			name := filepath.Join(dir, "signed", "000.p", "2")
			b, err := os.ReadFile(name)
			must(t, err)
			first := b[:2+int(b[0])<<8+int(b[1])]
			if err := errors.Join(os.Remove(name),
				os.WriteFile(filepath.Join(filepath.Dir(name), "1"), first, 0o600)); err != nil {
				t.Fatal(err)
			}
		},
		"no rotation is there": func(_ *house, dir string) {
			must(t, os.RemoveAll(filepath.Join(dir, "signed")))
		},
	} {
		h, dir := rich(t, 300), t.TempDir()
		h.mustExport(dir)
		honest := *h
		forge(h, dir)
		honest.grow(400)
		if _, err := honest.export(dir); !errors.Is(err, bundle.ErrDamaged) {
			t.Errorf("%s: exported: %v", name, err)
		}
	}
}

// edit changes a text in a file that has it.
func edit(t *testing.T, path, from, to string) {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	changed := strings.Replace(string(b), from, to, 1)
	if changed == string(b) {
		t.Fatalf("%s has no %q", path, from)
	}
	must(t, os.WriteFile(path, []byte(changed), 0o600))
}

// TestManifestMended: a manifest that is damaged or missing is written anew; one of a later version is left alone.
func TestManifestMended(t *testing.T) {
	t.Parallel()
	h, dir := rich(t, 300), t.TempDir()
	h.mustExport(dir)
	path := filepath.Join(dir, "manifest.json")
	for _, text := range []string{"", "{}", `{"format":"shuffled/v1/bundle","size":9}`} {
		must(t, os.WriteFile(path, []byte(text), 0o600))
		h.mustExport(dir)
		same(t, dir, h.fresh())
	}
	must(t, os.WriteFile(path, []byte(`{"format":"shuffled/v2/bundle"}`), 0o600))
	if _, err := h.export(dir); !errors.Is(err, audit.ErrUnknown) {
		t.Errorf("a manifest of a later version: %v", err)
	}
}

// TestDeckless: a deck that the store has lost keeps nothing else back, and comes later if it is found.
func TestDeckless(t *testing.T) {
	t.Parallel()
	h, dir := rich(t, 300), t.TempDir()
	hash := h.commit("1", "2", "3")
	h.commit("1", "2", "3")
	for what, cards := range map[string][]string{"none": nil, "another": {"1", "2"}, "no deck": {"a\nb", ""}} {
		t.Run(what, func(t *testing.T) {
			if h.decks[hash] = cards; cards == nil {
				delete(h.decks, hash)
			}
			for range 2 {
				if r := h.mustExport(dir); r.MissingDecks != 1 {
					t.Errorf("%d decks are missing", r.MissingDecks)
				}
			}
			h.grow(int(h.size()) + 300)
			if r := h.mustExport(dir); r.MissingDecks != 1 {
				t.Errorf("%d decks are missing", r.MissingDecks)
			}
			if b, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("decks/%x.txt", hash))); err != nil || len(b) > 0 {
				t.Errorf("its file has %d bytes, %v", len(b), err)
			}
		})
	}
	h.decks[hash] = []string{"1", "2", "3"}
	if r := h.mustExport(dir); r.MissingDecks != 0 {
		t.Errorf("%d decks are missing", r.MissingDecks)
	}
	same(t, dir, h.fresh())
}

// TestOddEntries: entries that break every rule are exported as they are.
func TestOddEntries(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for _, b := range [][]byte{nil, {1}, {1, 1}, {1, 2, 3}, {1, 6, 0, 0}, {9, 9}, make([]byte, 65_535), h.entries[0]} {
		h.addBytes(b)
	}
	h.sign()
	r := open(t, h.fresh())
	entries, err := r.Entries(0)
	if err != nil || len(entries) != 9 || len(entries[7]) != 65_535 {
		t.Errorf("%d entries, %v", len(entries), err)
	}
}

// overtaken is a house whose head was read before the newest entries came.
type overtaken struct {
	*house
	head []byte
}

func (o overtaken) Head(context.Context) ([]byte, error) { return o.head, nil }

// TestOvertaken: what comes while an export runs is left to the next one.
func TestOvertaken(t *testing.T) {
	t.Parallel()
	h := rich(t, 300)
	want := h.fresh()
	o := overtaken{h, h.heads[len(h.heads)-1].signed}
	h.grow(400)
	h.add(&audit.Key{Subject: audit.SubjectPolicy, Policy: []byte("quorum none\n")})
	h.rotate()
	h.cosign()
	dir := t.TempDir()
	if _, err := bundle.Export(t.Context(), o, dir, options()); err != nil {
		t.Fatal(err)
	}
	same(t, dir, want)
	h.mustExport(dir)
	same(t, dir, h.fresh())
}

// TestTooLong: an entry that no file can hold stops the export, whatever signed it.
func TestTooLong(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.addBytes(make([]byte, 65_536))
	h.sign()
	if _, err := h.export(t.TempDir()); !errors.Is(err, bundle.ErrContradiction) {
		t.Errorf("exported: %v", err)
	}
	h.entries = h.entries[:1] // and one that is missing is named
	if _, err := h.export(t.TempDir()); err == nil || !strings.Contains(err.Error(), "entry 1 of 2 is missing") {
		t.Errorf("exported: %v", err)
	}
}

// TestSecondExport: two exports do not write to one directory at once.
func TestSecondExport(t *testing.T) {
	t.Parallel()
	h, dir := newHouse(t), t.TempDir()
	h.grow(10)
	var inner error
	h.read = func(index uint64) error {
		if index == 5 {
			other := *h
			other.read = nil
			_, inner = other.export(dir)
		}
		return nil
	}
	h.mustExport(dir)
	if inner == nil || !strings.Contains(inner.Error(), "another export") {
		t.Errorf("a second export: %v", inner)
	}
}

// TestForeignDirectory: a directory with something else in it is left alone.
func TestForeignDirectory(t *testing.T) {
	t.Parallel()
	h, dir := newHouse(t), t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "notes.txt"), nil, 0o600))
	if _, err := h.export(dir); err == nil || !strings.Contains(err.Error(), "notes.txt") {
		t.Errorf("exported: %v", err)
	}
	if got := files(t, dir); len(got) != 1 {
		t.Errorf("%v", sorted(got))
	}
	other := t.TempDir()
	o := options()
	h.mustExport(other)
	o.Origin = "bundle.example/other"
	if _, err := bundle.Export(t.Context(), h, other, o); err == nil {
		t.Error("another origin")
	}
	same(t, other, h.fresh())
}

// TestNoEscape: a symbolic link in the directory leads neither writer nor reader out of it.
func TestNoEscape(t *testing.T) {
	t.Parallel()
	h, dir, outside := rich(t, 300), t.TempDir(), t.TempDir()
	must(t, os.Symlink(outside, filepath.Join(dir, "tile")))
	if _, err := h.export(dir); err == nil || len(files(t, outside)) > 0 {
		t.Errorf("exported: %v, %v", err, sorted(files(t, outside)))
	}
	dir = h.fresh()
	secret := filepath.Join(outside, "secret")
	must(t, os.WriteFile(secret, []byte("secret"), 0o600))
	manifest := filepath.Join(dir, "manifest.json")
	must(t, errors.Join(os.Remove(manifest), os.Symlink(secret, manifest)))
	if m, err := open(t, dir).Manifest(); !errors.Is(err, audit.ErrMalformed) {
		t.Errorf("read %v, %v", m, err)
	}
	for _, list := range []string{"cosigned", "signed"} {
		path := filepath.Join(dir, list)
		must(t, errors.Join(os.RemoveAll(path), os.Symlink(outside, path)))
	}
	r := open(t, dir)
	for _, all := range []iter.Seq2[bundle.Listed, error]{r.Cosigned(), r.Signed()} {
		for c, err := range all {
			if !errors.Is(err, audit.ErrMalformed) {
				t.Errorf("read %q, %v", c.Signed, err)
			}
		}
	}
}

// TestCancelled: an export that is told to stop leaves no goroutine (TestMain) and no bundle.
func TestCancelled(t *testing.T) {
	t.Parallel()
	h, dir := newHouse(t), t.TempDir()
	h.grow(3000)
	ctx, cancel := context.WithCancel(t.Context())
	h.read = func(index uint64) error {
		if index == 1500 {
			cancel()
		}
		return nil
	}
	if _, err := bundle.Export(ctx, h, dir, options()); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if _, err := bundle.Open(dir); err == nil {
		t.Error("published")
	}
	if _, err := os.Stat(filepath.Join(dir, ".new")); err == nil {
		t.Error("half-written files are left")
	}
}

// TestProgress: the last word is that all is done.
func TestProgress(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.grow(1000)
	var done, total uint64
	o := options()
	o.Progress = func(d, n uint64) {
		if d < done || d > n {
			t.Errorf("%d of %d after %d", d, n, done)
		}
		done, total = d, n
	}
	if _, err := bundle.Export(t.Context(), h, t.TempDir(), o); err != nil || done != 1000 || total != 1000 {
		t.Errorf("%d of %d, %v", done, total, err)
	}
}
