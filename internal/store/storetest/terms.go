package storetest

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
	if diff := cmp.Diff(before, b.Counts(t)); diff != "" {
		t.Errorf("refused terms were written:\n%s", diff)
	}
}
