package bundle_test

import (
	"bytes"
	"context"
	"crypto/ecdh"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filippo.io/torchwood"
	"github.com/google/go-cmp/cmp"
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
	if r.Size() != h.size() || r.Manifest().Size != h.size() || string(r.Checkpoint()) != string(h.heads[len(h.heads)-1].signed) {
		t.Errorf("the bundle has size %d", r.Size())
	}
	want := map[string]bool{"checkpoint": true, "keys.json": true, "policy": true, "manifest.json": true}
	for _, tile := range tlog.NewTiles(8, 0, int64(h.size())) {
		data, err := tlog.ReadTileData(tile, tlog.HashReaderFunc(h.readHashes))
		if err != nil {
			t.Fatal(err)
		}
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
	for i := range r.Bundles() {
		entries, err := r.Entries(i)
		if err != nil {
			t.Fatal(err)
		}
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
	if altered, err := r.Altered(); err != nil || len(altered) > 0 {
		t.Errorf("altered: %v, %v", altered, err)
	}
}

func open(t testing.TB, dir string) *bundle.Reader {
	t.Helper()
	r, err := bundle.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// rich returns a ledger with everything that a bundle shows: rotated keys,
// policies, decks, cosigned checkpoints.
func rich(t testing.TB, size int) *house {
	h := newHouse(t)
	h.commit("A", "B", "C")
	h.add(&audit.Key{Subject: audit.SubjectPolicy, Policy: []byte(h.policy)})
	h.sign()
	h.cosign()
	auditor, err := ecdh.P256().GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	h.add(&audit.Key{Subject: audit.SubjectAuditor, Public: append([]byte{1}, auditor.PublicKey().Bytes()...)})
	h.add(&audit.Key{Subject: audit.SubjectRetirement, Retired: audit.SubjectAuditor, ID: [32]byte{9}, From: start.UnixMilli()})
	h.sign()
	h.rotate()
	h.cosign()
	h.add(&audit.Commit{Context: &audit.Context{Origin: origin, Production: true, Table: "d",
		Recipe: shuffle.Recipe{Ranges: []uint32{6, 6}}, Disclosure: audit.DisclosurePublic}, Serial: 1, CloseBy: start.UnixMilli()})
	for int(h.size()) < size {
		h.grow(min(size, int(h.size())+40))
		h.cosign()
	}
	h.commit("Q♥", "K♥")
	h.rotate()
	h.cosign()
	return h
}

// TestContent: keys, policy, decks and checkpoints of a bundle.
func TestContent(t *testing.T) {
	t.Parallel()
	h := rich(t, 600)
	r := open(t, h.fresh())
	for hash, cards := range h.decks {
		if got, err := r.Deck(hash); err != nil || !cmp.Equal(got, cards) {
			t.Errorf("deck %q: %q, %v", cards, got, err)
		}
	}
	if decks, err := r.Decks(); err != nil || len(decks) != 2 {
		t.Errorf("%d decks, %v", len(decks), err)
	}
	if _, err := r.Deck([32]byte{1}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a deck that is not there: %v", err)
	}
	list := func(all func(func([]byte, error) bool)) (list []string) {
		for c, err := range all {
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, string(c))
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
	if len(signed) != 2 || strings.Count(signed[0], "— "+origin) != 2 || signed[1] != string(h.heads[len(h.heads)-1].signed) {
		t.Errorf("signed: %q", signed)
	}
	if string(r.Checkpoint()) != cosigned[len(cosigned)-1] {
		t.Error("the checkpoint is not the cosigned one")
	}
	testKeys(t, h, r)
}

func testKeys(t *testing.T, h *house, r *bundle.Reader) {
	t.Helper()
	keys, err := r.Keys()
	if err != nil {
		t.Fatal(err)
	}
	want := bundle.NewKeys(origin)
	for i, b := range h.entries {
		e, err := audit.ParseEntry(b)
		if err != nil {
			t.Fatal(err)
		}
		want.Apply(uint64(i), e)
	}
	var subjects []string
	for _, k := range keys.Keys {
		subjects = append(subjects, fmt.Sprintf("%d %s", k.Index, k.Subject))
	}
	a, err1 := keys.Marshal()
	b, err2 := want.Marshal()
	if err1 != nil || err2 != nil || string(a) != string(b) {
		t.Errorf("keys:\n%s\n%s", a, b)
	}
	if diff := cmp.Diff([]string{"0 signing", "2 policy", "3 auditor", "4 retirement", "5 signing",
		fmt.Sprintf("%d signing", h.size()-1)}, subjects); diff != "" {
		t.Error(diff)
	}
	vkey := keys.Keys[len(keys.Keys)-1].VKey
	if m := r.Manifest(); m.VKey != vkey || !m.Production || m.Name != "main" || m.Origin != origin || m.Deckless != 0 ||
		m.Signed != 2 || m.Cosigned != uint64(len(h.cosigned)) || m.ExportedAt != "2026-11-21T00:00:00.000Z" {
		t.Errorf("manifest %+v", m)
	}
	policy, err := r.Policy()
	if err != nil || string(policy) != "log "+vkey+"\n"+h.policy {
		t.Errorf("policy %q, %v", policy, err)
	}
	if p, err := audit.ParsePolicy(policy); err != nil || !p.Satisfied(r.Checkpoint()) || len(p.Logs) != 1 {
		t.Errorf("the policy: %v", err)
	}
}

// TestManyCosigned: the list of cosigned checkpoints across the ends of its files,
// and one that came after its entries were exported.
func TestManyCosigned(t *testing.T) {
	t.Parallel()
	h, dir := newHouse(t), t.TempDir()
	for _, n := range []int{1, 255, 256, 257, 511, 512, 513, 514} {
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
			if err != nil || string(c) != string(h.cosigned[i].signed) {
				t.Fatalf("%d of %d: %v", i, n, err)
			}
			i++
		}
		if i != n {
			t.Errorf("%d of %d", i, n)
		}
	}
}

// TestPolicyInForce: a policy counts once its predecessor's quorum cosigned a
// checkpoint above it (section 7.3); one that cannot be read never does.
func TestPolicyInForce(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	policy := func() string {
		t.Helper()
		text, err := open(t, h.fresh()).Policy()
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(text), "\n")
		return rest
	}
	set := func(text string) {
		h.add(&audit.Key{Subject: audit.SubjectPolicy, Policy: []byte(text)})
		h.sign()
	}
	hold := func(what, want string) {
		t.Helper()
		if got := policy(); got != want {
			t.Errorf("%s: %q", what, got)
		}
	}
	hold("no policy", "quorum none\n")
	set("quorum none\n# one\n")
	hold("without witnesses", "quorum none\n# one\n")
	set(h.policy)
	hold("after none", h.policy)
	h.cosign()
	hold("cosigned", h.policy)
	_, log := h.generate("log.example")
	second := strings.ReplaceAll(newEmpty(t).policy, " w1", " w2")
	set("log " + log + "\n" + strings.Replace(second, "quorum w1", "quorum w2", 1))
	hold("not seen by the first witness", h.policy)
	set("nonsense")
	set("quorum none\n")
	h.cosigned = append(h.cosigned, h.checkpoint(h.size(), h.signer)) // by nobody
	hold("not cosigned", h.policy)
	h.grow(int(h.size()) + 1)
	h.cosign()
	hold("cosigned above all", "quorum none\n")
	h.cosigned = []head{h.checkpoint(3, h.signer, h.witness), h.checkpoint(4, h.signer, h.witness)}
	hold("cosigned above the second only", second)
	h.cosigned = nil
	hold("never cosigned", "quorum none\n")
	h = newHouse(t)
	set(h.policy)
	h.cosigned = append(h.cosigned, h.checkpoint(h.size(), h.signer)) // by nobody: the first one never was in force
	set(second)
	hold("two in a row", second)
}

// TestPeriod: from and to bound the manifest's account, never the entries.
func TestPeriod(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.grow(700) // entry i is at start + i minutes
	dir := t.TempDir()
	at := func(minute int) time.Time { return start.Add(time.Duration(minute) * time.Minute) }
	for _, test := range []struct {
		from, to       time.Time
		first, entries uint64
	}{
		{time.Time{}, time.Time{}, 0, 700},
		{at(0), at(700), 0, 700},
		{at(1), at(2), 1, 1},
		{at(1).Add(time.Millisecond), at(2).Add(time.Millisecond), 2, 1},
		{at(255), at(513), 255, 258},
		{at(699), time.Time{}, 699, 1},
		{time.Time{}, at(256), 0, 256},
		{at(700), time.Time{}, 700, 0},
		{time.Time{}, at(0), 0, 0},
		{at(-10), at(0), 0, 0},
		{at(300), at(300).Add(time.Second), 300, 1},
		{at(300).Add(time.Second), at(300).Add(2 * time.Second), 301, 0},
	} {
		o := options()
		o.From, o.To = test.from, test.to
		r, err := bundle.Export(t.Context(), h, dir, o)
		if err != nil {
			t.Fatal(err)
		}
		p := r.Manifest.Period
		if p.First != test.first || p.Entries != test.entries || (p.Activity == bundle.NoActivity) != (test.entries == 0) ||
			(p.From == "") != test.from.IsZero() || (p.To == "") != test.to.IsZero() {
			t.Errorf("%v to %v: %+v", test.from, test.to, p)
		}
		if m := open(t, dir).Manifest(); m.Size != 700 || m.Period != p {
			t.Errorf("%+v", m)
		}
	}
}

// refusals are sources that an export believes nothing of. want is the error, and
// the bundle in the directory stays as it was.
var refusals = []struct {
	name  string
	want  error
	spoil func(h *house)
}{
	{"an entry that was changed", bundle.ErrContradiction, func(h *house) { h.entries[620] = append([]byte(nil), h.entries[621]...) }},
	{"two entries that changed places", bundle.ErrContradiction, func(h *house) { h.entries[640], h.entries[641] = h.entries[641], h.entries[640] }},
	{"an entry of which a byte is missing", bundle.ErrContradiction, func(h *house) { h.entries[700] = h.entries[700][1:] }},
	{"an empty entry", bundle.ErrContradiction, func(h *house) { h.entries[700] = nil }},
	{"an entry that no file can hold", bundle.ErrContradiction, func(h *house) { h.entries[700] = make([]byte, 65_536) }},
	{"a missing entry", bundle.ErrContradiction, func(h *house) { h.entries = h.entries[:len(h.entries)-1] }},
	{"a head of another root", bundle.ErrContradiction, func(h *house) {
		h.heads = append(h.heads, head{h.size(), h.note(h.size(), tlog.Hash{1})})
	}},
	{"a head that is too small", bundle.ErrDiverged, func(h *house) { h.heads = []head{h.checkpoint(100, h.signer)} }},
	{"a head of size 0", bundle.ErrContradiction, func(h *house) { h.heads = []head{{0, h.note(0, tlog.Hash{})}} }},
	{"a head that is no checkpoint", bundle.ErrContradiction, func(h *house) { h.heads = []head{{9, []byte("hello")}} }},
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
	if err != nil {
		h.t.Fatal(err)
	}
	return signed
}

func (h *house) note(size uint64, root tlog.Hash) []byte {
	return h.text(audit.Checkpoint{Origin: origin, Size: size, Root: root}.Text())
}

// TestRefusals: nothing is published that does not hold, and what was published
// stays, byte for byte.
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
			if r := open(t, dir); r.Size() != 609 && r.Size() != 602 && r.Size() != r.Manifest().Size {
				t.Errorf("size %d", r.Size())
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

// TestResumeFromDamage: what a cut export left is no evidence. Damaged, it is
// written again.
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
			if err := damage(filepath.Join(dir, "tile", "entries", "002")); err != nil {
				t.Fatal(err)
			}
			h.mustExport(dir)
			same(t, dir, want)
		})
	}
}

// TestCutWhilePublished: between the checkpoint and the manifest a bundle has its
// new size, and the next export writes what is missing.
func TestCutWhilePublished(t *testing.T) {
	t.Parallel()
	for _, cut := range []string{"keys.json", "policy", "manifest.json"} {
		for _, first := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, first %t", cut, first), func(t *testing.T) {
				t.Parallel()
				h, dir := rich(t, 500), t.TempDir()
				var aside []byte
				path := filepath.Join(dir, cut)
				if !first {
					h.mustExport(dir)
					var err error
					if aside, err = os.ReadFile(path); err != nil {
						t.Fatal(err)
					}
					if err := os.Remove(path); err != nil {
						t.Fatal(err)
					}
					h.grow(700)
					h.cosign()
					h.rotate()
					h.commit("x", "y")
					h.cosign()
				}
				if cut == "manifest.json" && !first {
					t.Skip("reading it comes first")
				}
				// A directory in its place stops the export there.
				if err := os.MkdirAll(filepath.Join(path, "x"), 0o700); err != nil {
					t.Fatal(err)
				}
				if _, err := h.export(dir); err == nil {
					t.Fatal("exported")
				}
				if err := os.RemoveAll(path); err != nil {
					t.Fatal(err)
				}
				if !first {
					if err := os.WriteFile(path, aside, 0o600); err != nil {
						t.Fatal(err)
					}
					r := open(t, dir)
					if r.Size() != h.size() || r.Manifest().Size >= r.Size() {
						t.Errorf("size %d, manifest of %d", r.Size(), r.Manifest().Size)
					}
					if altered, err := r.Altered(); err != nil || len(altered) == 0 {
						t.Errorf("altered %v, %v", altered, err)
					}
					for _, err := range r.Cosigned() {
						if err != nil {
							t.Error(err)
						}
					}
				}
				h.mustExport(dir)
				same(t, dir, h.fresh())
			})
		}
	}
}

// TestLeftPartials: partial files of an export that was cut before its checkpoint
// go when the full ones come.
func TestLeftPartials(t *testing.T) {
	t.Parallel()
	h, dir := rich(t, 300), t.TempDir()
	blocked := filepath.Join(dir, "cosigned", fmt.Sprintf("000.p/%d", len(h.cosigned)))
	if err := os.MkdirAll(filepath.Join(blocked, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := h.export(dir); err == nil {
		t.Fatal("exported")
	}
	if err := os.RemoveAll(blocked); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "tile", "0", "001.p")); err != nil {
		t.Fatalf("void: %v", err)
	}
	h.grow(600)
	h.mustExport(dir)
	same(t, dir, h.fresh())
}

// TestDamaged: an export adds nothing to a bundle whose right edge or checkpoint
// is damaged, and says so.
func TestDamaged(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"checkpoint", "manifest.json", "tile/0/002.p/90", "tile/1/000.p/2", "cosigned/000.p/18"} {
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
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			h.grow(700)
			if _, err := h.export(dir); !errors.Is(err, bundle.ErrDamaged) {
				t.Errorf("exported: %v", err)
			}
		})
	}
}

// TestForgedKeys: an entry of the bundle that was changed, and keys.json with it,
// is found by the root, on whichever way keys are taken up.
func TestForgedKeys(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"keys.json", "policy"} { // without keys.json all entries are read again
		h, dir := rich(t, 300), t.TempDir()
		h.mustExport(dir)
		entries := filepath.Join(dir, "tile", "entries", "000")
		edit(t, entries, string(h.entries[3]), strings.Replace(string(h.entries[3]), "daemon", "dealer", 1))
		e, err := audit.ParseEntry(h.entries[4])
		if err != nil {
			t.Fatal(err)
		}
		e.Body.(*audit.Key).From = 0
		forged, err := e.Encode()
		if err != nil {
			t.Fatal(err)
		}
		edit(t, entries, string(h.entries[4]), string(forged))
		edit(t, filepath.Join(dir, "keys.json"), `"from":"2026-10-31T23:00:00.000Z"`, `"from":"1970-01-01T00:00:00.000Z"`)
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		h.grow(400)
		if _, err := h.export(dir); !errors.Is(err, bundle.ErrDamaged) {
			t.Errorf("exported without %s: %v", name, err)
		}
	}
}

// edit changes a text in a file that has it.
func edit(t *testing.T, path, from, to string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(b), from, to, 1)
	if changed == string(b) {
		t.Fatalf("%s has no %q", path, from)
	}
	if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestForeignManifest: a manifest of another ledger, or of more than there is.
func TestForeignManifest(t *testing.T) {
	t.Parallel()
	for from, to := range map[string]string{`"origin":"bundle.example/ledger"`: `"origin":"bundle.example/ledges"`, `"size":`: `"size":1`} {
		h, dir := rich(t, 300), t.TempDir()
		h.mustExport(dir)
		edit(t, filepath.Join(dir, "manifest.json"), from, to)
		if _, err := h.export(dir); !errors.Is(err, bundle.ErrDamaged) {
			t.Errorf("%s: %v", to, err)
		}
	}
}

// TestKeysMended: keys.json is a view. One that is damaged is written anew.
func TestKeysMended(t *testing.T) {
	t.Parallel()
	h, dir := rich(t, 300), t.TempDir()
	h.mustExport(dir)
	path := filepath.Join(dir, "keys.json")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "{}", strings.Replace(string(b), `"index":5`, `"index":6`, 1), strings.Replace(string(b), "23:03", "23:04", 1)} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil || text == string(b) {
			t.Fatal(err)
		}
		h.mustExport(dir)
		same(t, dir, h.fresh())
	}
}

// TestDeckless: a deck that the store has lost keeps nothing else back, and comes
// later if it is found.
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
				if m := h.mustExport(dir).Manifest; m.Deckless != 2 {
					t.Errorf("%d commits without a deck", m.Deckless)
				}
			}
			h.grow(int(h.size()) + 300)
			if m := h.mustExport(dir).Manifest; m.Deckless != 2 {
				t.Errorf("%d commits without a deck", m.Deckless)
			}
		})
	}
	h.decks[hash] = []string{"1", "2", "3"}
	if m := h.mustExport(dir).Manifest; m.Deckless != 0 {
		t.Errorf("%d commits without a deck", m.Deckless)
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
	if keys, err := r.Keys(); err != nil || len(keys.Keys) != 1 {
		t.Errorf("%d keys, %v", len(keys.Keys), err) // a second genesis is none
	}
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
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
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
	o = options()
	o.Name = "a b"
	if _, err := bundle.Export(t.Context(), h, other, o); !errors.Is(err, audit.ErrMalformed) {
		t.Errorf("a name that is none: %v", err)
	}
	same(t, other, h.fresh())
}

// TestNoEscape: a symbolic link in the directory leads neither writer nor reader
// out of it.
func TestNoEscape(t *testing.T) {
	t.Parallel()
	h, dir, outside := rich(t, 300), t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "tile")); err != nil {
		t.Fatal(err)
	}
	if _, err := h.export(dir); err == nil || len(files(t, outside)) > 0 {
		t.Errorf("exported: %v, %v", err, sorted(files(t, outside)))
	}
	dir = h.fresh()
	secret := filepath.Join(outside, "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	policy := filepath.Join(dir, "policy")
	if err := errors.Join(os.Remove(policy), os.Symlink(secret, policy)); err != nil {
		t.Fatal(err)
	}
	if b, err := open(t, dir).Policy(); err == nil {
		t.Errorf("read %q", b)
	}
}

// TestCancelled: an export that is told to stop leaves no goroutine (TestMain) and
// no bundle.
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

// TestRoot: the manifest's root is base64 of the checkpoint's.
func TestRoot(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.grow(5)
	r := open(t, h.fresh())
	c, err := audit.CheckpointText(r.Checkpoint())
	if err != nil || r.Manifest().Root != base64.StdEncoding.EncodeToString(c.Root[:]) {
		t.Errorf("%v, %s", err, r.Manifest().Root)
	}
}
