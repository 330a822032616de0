package storetest

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
)

// testTerms: a document is kept once, by its ledger, and never changed.
func testTerms(t *testing.T, b Backend) {
	c, other := newChain(t, b.Store, "main"), newChain(t, b.Store, "other")
	kept := func(id ledger.ID, want ledger.Terms, missing error) {
		t.Helper()
		got, err := b.Store.Terms(t.Context(), id, want.Hash)
		if !errors.Is(err, missing) || missing == nil && !cmp.Equal(got, want) {
			t.Errorf("terms: %+v, %v; want %v", got, err, missing)
		}
	}
	wheel := ledger.Terms{Hash: tag(1), Kind: audit.TermsWheel, Bytes: []byte{0, 1, 1, 'a', 0, 0, 0, 1}}
	pays := ledger.Terms{Hash: tag(2), Kind: audit.TermsPayTable, Bytes: []byte(strings.Repeat("a", 65_536))}
	for _, terms := range []ledger.Terms{wheel, pays, wheel} {
		if err := b.Store.PutTerms(t.Context(), c.id, terms); err != nil {
			t.Fatal(err)
		}
		kept(c.id, terms, nil)
		kept(other.id, terms, ledger.ErrNotFound)
	}
	// Another document under the hash does not take the place of the first.
	swapped := wheel
	swapped.Bytes = []byte{0, 1, 1, 'b', 0, 0, 0, 1}
	if err := b.Store.PutTerms(t.Context(), c.id, swapped); err != nil {
		t.Error(err)
	}
	kept(c.id, wheel, nil)
	before := b.Counts(t)
	for name, terms := range map[string]ledger.Terms{
		"a list of tickets": {Hash: tag(3), Kind: audit.TermsTicketList, Bytes: []byte{1}},
		"no bytes":          {Hash: tag(3), Kind: audit.TermsPayTable, Bytes: []byte{}},
		"65,537 bytes":      {Hash: tag(3), Kind: audit.TermsPayTable, Bytes: make([]byte, 65_537)},
	} {
		if err := b.Store.PutTerms(t.Context(), c.id, terms); err == nil {
			t.Errorf("%s: kept", name)
		}
	}
	unknown := ledger.IDOf("example.org/unknown")
	if err := b.Store.PutTerms(t.Context(), unknown, pays); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("terms of no ledger: %v", err)
	}
	b.unchanged(t, before, "refused terms were written")
}

func testStatements(t *testing.T, b Backend) {
	c := newChain(t, b.Store, "main")
	other := newChain(t, b.Store, "other")
	ctx := t.Context()
	for n, note := range []string{"first", "second", ""} {
		if err := b.Store.PutStatement(ctx, c.id, 7, n, []byte(note)); err != nil {
			t.Fatal(err)
		}
	}
	for _, again := range []string{"first", "another"} {
		if err := b.Store.PutStatement(ctx, c.id, 7, 0, []byte(again)); !errors.Is(err, ledger.ErrExists) {
			t.Errorf("%q in the place of the first: %v", again, err)
		}
	}
	for what, put := range map[string]struct {
		shuffle uint64
		n       int
		note    []byte
	}{"the ninth": {7, 8, nil}, "a place below 0": {7, -1, nil}, "131,073 bytes": {7, 3, make([]byte, 131_073)},
		"the genesis": {0, 0, nil}} {
		err := b.Store.PutStatement(ctx, c.id, put.shuffle, put.n, append([]byte{}, put.note...))
		if err == nil || errors.Is(err, ledger.ErrExists) || errors.Is(err, ledger.ErrNotFound) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := b.Store.PutStatement(ctx, ledger.IDOf("example.org/unknown"), 7, 0, []byte("x")); !errors.Is(err,
		ledger.ErrNotFound) {
		t.Errorf("of an unknown ledger: %v", err)
	}
	got, err := b.Store.Statements(ctx, c.id, 7)
	if err != nil || !bytes.Equal(bytes.Join(got, []byte(",")), []byte("first,second,")) {
		t.Errorf("%q, %v", got, err)
	}
	for _, id := range []ledger.ID{c.id, other.id} {
		if got, err := b.Store.Statements(ctx, id, 8); err != nil || len(got) > 0 {
			t.Errorf("of another shuffle: %q, %v", got, err)
		}
	}
	if got, err := b.Store.Statements(ctx, other.id, 7); err != nil || len(got) > 0 {
		t.Errorf("of another ledger: %q, %v", got, err)
	}
	// Of many at once one has the place.
	won := make(chan int, 8)
	var group errgroup.Group
	for i := range 8 {
		group.Go(func() error {
			err := b.Store.PutStatement(ctx, other.id, 9, 0, []byte{byte(i)})
			if err == nil {
				won <- i
			} else if !errors.Is(err, ledger.ErrExists) {
				return err
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil || len(won) != 1 {
		t.Fatalf("%d have the place, %v", len(won), err)
	}
	if got, err := b.Store.Statements(ctx, other.id, 9); err != nil || len(got) != 1 || got[0][0] != byte(<-won) {
		t.Errorf("%v, %v", got, err)
	}
}
