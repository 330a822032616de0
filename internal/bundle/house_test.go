package bundle_test

import (
	"context"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	fnote "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/bundle"
	"shuffled/internal/shuffle"
)

const origin = "bundle.example/ledger"

// start is the time of entry 0; every entry is a minute after the one before.
var start = time.Date(2026, 10, 31, 23, 0, 0, 0, time.UTC)

// head is a signed checkpoint.
type head struct {
	size   uint64
	signed []byte
}

// house is a ledger in memory, and the Source of its exports.
type house struct {
	t        testing.TB
	signer   note.Signer
	long     note.Signer // of ML-DSA-44; nil: none
	entries  [][]byte
	nodes    []tlog.Hash // as tlog stores them
	heads    []head
	cosigned []head
	decks    map[[32]byte][]string
	terms    map[[32]byte][]byte
	witness  note.Signer
	policy   string // names the witness

	read func(index uint64) error // called before an entry is handed over
}

// newHouse returns a ledger with its genesis, without a policy.
func newHouse(t testing.TB) *house {
	t.Helper()
	h := newEmpty(t)
	h.add(&audit.Genesis{Revision: audit.Revision, Origin: origin, Production: true,
		SigningKey: h.public(h.newSigner(origin)), Deals: audit.DealsSigned,
		Disclosure: audit.DisclosurePublic, DefaultCloseBy: 3600, MaxCloseBy: 86_400, Access: audit.AccessPublic})
	h.sign()
	return h
}

func newEmpty(t testing.TB) *house {
	h := &house{t: t, decks: make(map[[32]byte][]string)}
	name := "witness.example/w1"
	skey, vkey := h.generate(name)
	var err error
	if h.witness, err = fnote.NewSignerForCosignatureV1(skey); err != nil {
		t.Fatal(err)
	}
	public, err := audit.SigningKey(vkey)
	must(t, err)
	wkey, err := audit.WitnessVKey(name, public[1:])
	must(t, err)
	h.policy = fmt.Sprintf("witness w1 %s https://witness.example/\nquorum w1\n", wkey)
	return h
}

func (h *house) generate(name string) (skey, vkey string) {
	h.t.Helper()
	skey, vkey, err := note.GenerateKey(nil, name)
	must(h.t, err)
	return skey, vkey
}

// newSigner makes the key that signs from now on, and returns its public key.
func (h *house) newSigner(name string) (vkey string) {
	h.t.Helper()
	skey, vkey := h.generate(name)
	signer, err := note.NewSigner(skey)
	must(h.t, err)
	h.signer = signer
	return vkey
}

func (h *house) public(vkey string) []byte {
	h.t.Helper()
	key, err := audit.SigningKey(vkey)
	must(h.t, err)
	return key
}

func (h *house) size() uint64 { return uint64(len(h.entries)) }

// add appends an entry without a checkpoint.
func (h *house) add(body audit.Body) {
	h.t.Helper()
	at := start.Add(time.Duration(len(h.entries)) * time.Minute)
	b, err := audit.Entry{Time: at.UnixMilli(), Actor: audit.Daemon, Body: body}.Encode()
	must(h.t, err)
	h.addBytes(b)
}

func (h *house) addBytes(b []byte) {
	h.t.Helper()
	hashes, err := tlog.StoredHashes(int64(len(h.entries)), b, tlog.HashReaderFunc(h.readHashes))
	must(h.t, err)
	h.nodes, h.entries = append(h.nodes, hashes...), append(h.entries, b)
}

func (h *house) readHashes(indexes []int64) ([]tlog.Hash, error) {
	hashes := make([]tlog.Hash, len(indexes))
	for i, x := range indexes {
		hashes[i] = h.nodes[x]
	}
	return hashes, nil
}

// grow appends small entries up to a size, and signs.
func (h *house) grow(size int) {
	h.t.Helper()
	for i := len(h.entries); i < size; i++ {
		h.add(&audit.Event{Kind: audit.EventTableOpen, Name: fmt.Sprintf("t%d", i)})
	}
	h.sign()
}

// commit appends a commit of a deck, which is stored, and signs.
func (h *house) commit(cards ...string) (hash [32]byte) {
	h.t.Helper()
	deck, err := shuffle.NewDeck(cards)
	must(h.t, err)
	hash = deck.Hash()
	h.decks[hash] = cards
	h.add(&audit.Commit{
		Context: &audit.Context{Origin: origin, Production: true, Table: "t", DeckHash: hash,
			Recipe: shuffle.Recipe{Cards: len(cards), Take: len(cards)}, Disclosure: audit.DisclosurePublic},
		Serial: 1, CloseBy: start.UnixMilli(), KeyTag: [32]byte{byte(len(h.entries))},
	})
	h.sign()
	return hash
}

// signed returns a checkpoint of the entries so far by all of signers.
func (h *house) checkpoint(size uint64, signers ...note.Signer) head {
	h.t.Helper()
	root, err := tlog.TreeHash(int64(size), tlog.HashReaderFunc(h.readHashes))
	must(h.t, err)
	signed, err := note.Sign(&note.Note{Text: audit.Checkpoint{Origin: origin, Size: size, Root: root}.Text()},
		signers...)
	must(h.t, err)
	return head{size, signed}
}

// own are the keys in force.
func (h *house) own() []note.Signer {
	if h.long == nil {
		return []note.Signer{h.signer}
	}
	return []note.Signer{h.signer, h.long}
}

// sign makes the entries so far the ledger's head.
func (h *house) sign() { h.heads = append(h.heads, h.checkpoint(h.size(), h.own()...)) }

// cosign has the witness cosign the head.
func (h *house) cosign() {
	h.cosigned = append(h.cosigned, h.checkpoint(h.size(), append(h.own(), h.witness)...))
}

// rotate puts another signing key in force.
func (h *house) rotate() {
	h.t.Helper()
	old := h.signer
	h.add(&audit.Key{Subject: audit.SubjectSigning, Public: h.public(h.newSigner(origin))})
	h.heads = append(h.heads, h.checkpoint(h.size(), append(h.own(), old)...))
}

// rotateLong puts a key of ML-DSA-44 in force.
func (h *house) rotateLong() {
	h.t.Helper()
	skey, vkey, err := fnote.GenerateMLDSAKey(origin)
	must(h.t, err)
	signers := h.own()
	if h.long, err = fnote.NewMLDSASigner(skey); err != nil {
		h.t.Fatal(err)
	}
	h.add(&audit.Key{Subject: audit.SubjectSigning, Public: h.public(vkey)})
	h.heads = append(h.heads, h.checkpoint(h.size(), append(signers, h.long)...))
}

func (h *house) Head(context.Context) ([]byte, error) { return h.heads[len(h.heads)-1].signed, nil }

func (h *house) Entries(ctx context.Context, from, to uint64) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for i := from; i < min(to, h.size()); i++ {
			err := ctx.Err()
			if err == nil && h.read != nil {
				err = h.read(i)
			}
			if !yield(h.entries[i], err) || err != nil {
				return
			}
		}
	}
}

func (h *house) CheckpointAfter(_ context.Context, index uint64) ([]byte, error) {
	for _, c := range h.heads {
		if c.size > index {
			return c.signed, nil
		}
	}
	return nil, fmt.Errorf("no checkpoint above %d", index)
}

func (h *house) Cosigned(_ context.Context, size uint64) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, c := range h.cosigned {
			if c.size >= size && !yield(c.signed, nil) {
				return
			}
		}
	}
}

func (h *house) Deck(_ context.Context, hash [32]byte) ([]string, error) {
	cards, ok := h.decks[hash]
	if !ok {
		return nil, bundle.ErrNoDeck
	}
	return cards, nil
}

func (h *house) Terms(_ context.Context, hash [32]byte) ([]byte, error) {
	document, ok := h.terms[hash]
	if !ok {
		return nil, bundle.ErrNoDeck
	}
	return document, nil
}

// exportedAt is the time of every export, so that two are the same.
var exportedAt = time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)

func options() bundle.Options {
	return bundle.Options{Origin: origin, Now: func() time.Time { return exportedAt }}
}

func (h *house) export(dir string) (*bundle.Result, error) {
	return bundle.Export(h.t.Context(), h, dir, options())
}

func (h *house) mustExport(dir string) *bundle.Result {
	h.t.Helper()
	r, err := h.export(dir)
	if err != nil {
		h.t.Fatalf("exporting %d entries: %v", h.size(), err)
	}
	return r
}

// fresh exports to a new directory.
func (h *house) fresh() string {
	h.t.Helper()
	dir := h.t.TempDir()
	h.mustExport(dir)
	return dir
}

// files returns all files of a directory by path.
func files(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		all[filepath.ToSlash(rel)] = string(b)
		return err
	})
	must(t, err)
	return all
}

// same holds two directories against each other. Partial forms that got may have
// besides are those of older sizes, whose full file is not there.
func same(t testing.TB, got, want string) {
	t.Helper()
	a, b := files(t, got), files(t, want)
	for _, name := range sorted(a) {
		if content, ok := b[name]; !ok {
			full, _, partial := strings.Cut(name, ".p/")
			if _, done := a[full]; !partial || done {
				t.Errorf("%s is there", name)
			}
		} else if content != a[name] {
			t.Errorf("%s differs:\n%q\n%q", name, short(a[name]), short(content))
		}
	}
	for _, name := range sorted(b) {
		if _, ok := a[name]; !ok {
			t.Errorf("%s is missing", name)
		}
	}
}

func short(s string) string { return s[:min(len(s), 100)] }

func sorted(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
