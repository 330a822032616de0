package sequencer_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"iter"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
	"shuffled/internal/audit/rules"
	"shuffled/internal/ledger"
	"shuffled/internal/ledger/sequencer"
	"shuffled/internal/shuffle"
)

const origin = "test.example/ledger"

// house is a ledger under test: its store, keys and files.
type house struct {
	t      *testing.T
	store  ledger.Store
	signer note.Signer
	key    note.Verifier
	dir    string
}

// newHouse creates a ledger on the store.
func newHouse(t *testing.T, store ledger.Store) *house {
	t.Helper()
	h, vkey := newKeys(t, store)
	h.create(genesis(t, vkey))
	return h
}

// newKeys returns a house that has no ledger yet.
func newKeys(t *testing.T, store ledger.Store) (*house, string) {
	t.Helper()
	skey, vkey, err := note.GenerateKey(nil, origin)
	must(t, err)
	signer, err := note.NewSigner(skey)
	must(t, err)
	key, err := note.NewVerifier(vkey)
	must(t, err)
	return &house{t: t, store: store, signer: signer, key: key, dir: t.TempDir()}, vkey
}

// create makes the ledger, with its mark in the file "mark".
func (h *house) create(g *audit.Genesis) {
	h.t.Helper()
	info := ledger.Info{Name: "main", Origin: origin}
	if err := sequencer.Create(h.t.Context(), h.store, info, g, h.signer, h.mark("mark"), time.Now()); err != nil {
		h.t.Fatal(err)
	}
}

func genesis(t *testing.T, vkey string) *audit.Genesis {
	t.Helper()
	key, err := audit.SigningKey(vkey)
	must(t, err)
	return &audit.Genesis{Revision: audit.Revision, Origin: origin, SigningKey: key, Deals: audit.DealsSigned,
		Disclosure:     audit.DisclosurePublic,
		DefaultCloseBy: 3600, MaxCloseBy: 86_400, Access: audit.AccessPublic}
}

func (h *house) mark(name string) string { return filepath.Join(h.dir, name) }

// config returns a configuration for a daemon with its own mark.
func (h *house) config(mark string) ledger.Config {
	return ledger.Config{Store: h.store, Info: ledger.Info{Name: "main", Origin: origin},
		Signers: []note.Signer{h.signer},
		Mark:    h.mark(mark), Start: audit.Event{Name: "test"}, Probe: 5 * time.Millisecond}
}

// open starts a daemon and closes it with the test.
func (h *house) open(c ledger.Config) *sequencer.Ledger {
	h.t.Helper()
	l, err := sequencer.Open(h.t.Context(), c)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { l.Close() })
	return l
}

// commit returns a commit to a made-up tape: the ledger does not look into it.
func commit(table string, n uint64) *audit.Commit {
	var seed [8]byte
	binary.BigEndian.PutUint64(seed[:], n)
	h := sha256.Sum256(append([]byte(table), seed[:]...))
	return &audit.Commit{
		Context: &audit.Context{Origin: origin, Table: table, DeckHash: h,
			Recipe: shuffle.Recipe{Cards: 52, Take: 52}, Disclosure: audit.DisclosurePublic},
		Commitment: h, DeckRoot: h, KeyTag: h,
	}
}

func tape() []byte { return make([]byte, shuffle.Recipe{Cards: 52, Take: 52}.TapeLen()) }

func propose(bodies ...audit.Body) ledger.Proposal {
	return ledger.Proposal{Actor: as("tester"), Bodies: bodies}
}

// on is l for commits that do not know their ledger.
func on(l *sequencer.Ledger) onLedger { return onLedger{l} }

type onLedger struct{ l *sequencer.Ledger }

func (o onLedger) of(p ledger.Proposal) ledger.Proposal {
	for _, b := range p.Bodies {
		if c, ok := b.(*audit.Commit); ok {
			c.Context.Genesis = o.l.GenesisHash()
		}
	}
	return p
}

func (o onLedger) Append(ctx context.Context, p ledger.Proposal) ([]ledger.Appended, error) {
	return o.l.Append(ctx, o.of(p))
}

// must appends and checks every receipt against the ledger's key.
func (h *house) must(l *sequencer.Ledger, p ledger.Proposal) []ledger.Appended {
	h.t.Helper()
	a, err := on(l).Append(h.t.Context(), p)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, one := range a {
		h.proved(one.Receipt)
	}
	return a
}

func (h *house) proved(r audit.Receipt) {
	h.t.Helper()
	again, err := audit.ParseReceipt(r.Text())
	if err != nil {
		h.t.Fatal(err)
	}
	c, err := audit.OpenCheckpoint(again.Checkpoint, h.key)
	if err != nil {
		h.t.Fatal(err)
	}
	if err := again.CheckInclusion(c); err != nil {
		h.t.Fatal(err)
	}
}

// entries reads the whole ledger back, and checks that it is legal.
func (h *house) entries() []audit.Entry {
	h.t.Helper()
	head, err := h.store.Head(h.t.Context(), ledger.IDOf(origin))
	if err != nil {
		h.t.Fatal(err)
	}
	state := rules.NewState()
	var all []audit.Entry
	for row, err := range h.store.Rows(h.t.Context(), ledger.IDOf(origin), 0, head.Size) {
		if err != nil {
			h.t.Fatal(err)
		}
		e, err := audit.ParseEntry(row.Entry)
		if err != nil {
			h.t.Fatal(err)
		}
		if err := state.Apply(e); err != nil {
			h.t.Fatalf("entry %d: %v", row.Index, err)
		}
		all = append(all, e)
	}
	if uint64(len(all)) != head.Size {
		h.t.Fatalf("%d entries under a head of size %d", len(all), head.Size)
	}
	return all
}

// faultyStore wraps a real store and makes single calls fail.
type faultyStore struct {
	ledger.Store

	mu     sync.Mutex
	append func(real func() error) error                 // for the next append only
	head   func(ledger.Head, error) (ledger.Head, error) // for every Head
}

func (f *faultyStore) Append(ctx context.Context, id ledger.ID, old ledger.Head, b ledger.Batch) error {
	f.mu.Lock()
	fault := f.append
	f.append = nil
	f.mu.Unlock()
	real := func() error { return f.Store.Append(ctx, id, old, b) }
	if fault != nil {
		return fault(real)
	}
	return real()
}

func (f *faultyStore) Head(ctx context.Context, id ledger.ID) (ledger.Head, error) {
	f.mu.Lock()
	fault := f.head
	f.mu.Unlock()
	h, err := f.Store.Head(ctx, id)
	if fault != nil {
		return fault(h, err)
	}
	return h, err
}

func (f *faultyStore) Rows(ctx context.Context, id ledger.ID, from, to uint64) iter.Seq2[ledger.Row, error] {
	return f.Store.Rows(ctx, id, from, to)
}

func (f *faultyStore) failAppend(fault func(real func() error) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.append = fault
}

func (f *faultyStore) failHead(fault func(ledger.Head, error) (ledger.Head, error)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.head = fault
}

// copyMark copies a mark, as it stands, for another daemon.
func (h *house) copyMark(from, to string) {
	h.t.Helper()
	b, err := os.ReadFile(h.mark(from))
	if err == nil {
		err = os.WriteFile(h.mark(to), b, 0o600)
	}
	if err != nil {
		h.t.Fatal(err)
	}
}

// as is the actor of a test: a service with one credential of the same name.
func as(name string) audit.Actor { return audit.Actor{Identity: name, Credential: name} }
