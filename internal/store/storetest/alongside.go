package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
)

func testAccesses(t *testing.T, b Backend) {
	c := newChain(t, b.Store, "main")
	other := newChain(t, b.Store, "other")
	ctx := t.Context()
	all := []ledger.Access{
		{Time: 10, Request: "b", Token: "reg-1", Method: "GET", Path: "/v1/main/shuffles?table=t"},
		{Time: 10, Request: "c", Token: "reg-2", Method: "GET", Path: "/v1/main/keys"},
		{Time: 20, Request: "a", Token: "reg-1", Method: "GET", Path: strings.Repeat("p", ledger.MaxAccessPath)},
		{Time: 30, Request: "a", Token: "reg-1", Method: "GET", Path: "/log/main/checkpoint"},
	}
	for _, i := range []int{2, 0, 3, 1} {
		if err := b.Store.PutAccess(ctx, c.id, all[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Store.PutAccess(ctx, c.id,
		ledger.Access{Time: 20, Request: "a", Token: "x", Method: "GET", Path: "/"}); !errors.Is(err,
		ledger.ErrExists) {
		t.Errorf("the same request again: %v", err)
	}
	if err := b.Store.PutAccess(ctx, c.id,
		ledger.Access{Time: 50, Request: "z", Token: "x", Method: "GET", Path: strings.Repeat("é", 251)}); err == nil ||
		errors.Is(err, ledger.ErrExists) {
		t.Errorf("a path of 502 bytes: %v", err)
	}
	if err := b.Store.PutAccess(ctx, ledger.IDOf("example.org/unknown"), all[0]); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("an access to an unknown ledger: %v", err)
	}
	at := func(i int) ledger.AccessCursor {
		return ledger.AccessCursor{Time: all[i].Time, Request: all[i].Request}
	}
	for _, test := range []struct {
		name string
		q    ledger.AccessQuery
		want []ledger.Access
	}{
		{"all", ledger.AccessQuery{Limit: 9}, all},
		{"a page", ledger.AccessQuery{Limit: 2}, all[:2]},
		{"the next page", ledger.AccessQuery{Limit: 2, After: at(1)}, all[2:]},
		{"within one time", ledger.AccessQuery{Limit: 1, After: at(0)}, all[1:2]},
		{"the end", ledger.AccessQuery{Limit: 2, After: at(3)}, nil},
		{"from", ledger.AccessQuery{Limit: 9, From: 20}, all[2:]},
		{"to", ledger.AccessQuery{Limit: 9, To: 20}, all[:2]},
		{"from and after", ledger.AccessQuery{Limit: 9, From: 20, After: at(0)}, all[2:]},
		{"after and from", ledger.AccessQuery{Limit: 9, From: 10, After: at(2)}, all[3:]},
		{"no time", ledger.AccessQuery{Limit: 9, From: 20, To: 20}, nil},
	} {
		got, err := b.Store.AccessRecords(ctx, c.id, test.q)
		if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", test.name, err, diff)
		}
	}
	if list, err := b.Store.AccessRecords(ctx, other.id, ledger.AccessQuery{Limit: 9}); err != nil || len(list) > 0 {
		t.Errorf("accesses of another ledger: %v, %v", list, err)
	}
	// They were put in the order 20, 10, 30, 10: the beginning of the chain goes, up to
	// the first that stays, and never the newest.
	var end ledger.AccessHead
	for _, i := range []int{2, 0, 3, 1} {
		end = end.Next(all[i])
	}
	if got, err := b.Store.AccessHead(ctx, c.id); err != nil || got != end || got.Count != 4 {
		t.Errorf("the end of the chain is %+v, %v; want %+v", got, err, end)
	}
	if got, err := b.Store.AccessHead(ctx, other.id); err != nil || got != (ledger.AccessHead{}) {
		t.Errorf("the end of an empty chain is %+v, %v", got, err)
	}
	for before, want := range map[int64]int{0: 0, 10: 0, 11: 0, 20: 0, 21: 2, 30: 2, 31: 3} {
		if n, err := b.Store.CountAccess(ctx, c.id, before); n != want || err != nil {
			t.Errorf("%d accesses before %d, %v; want %d", n, before, err, want)
		}
	}
	if err := b.Store.PutAccess(ctx, other.id, all[0]); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct{ limit, want int }{{1, 1}, {9, 1}, {9, 0}} {
		if n, err := b.Store.DropAccess(ctx, c.id, 30, step.limit); n != step.want || err != nil {
			t.Errorf("dropped %d of at most %d, %v; want %d", n, step.limit, err, step.want)
		}
	}
	if list, err := b.Store.AccessRecords(ctx, c.id, ledger.AccessQuery{Limit: 9}); err != nil ||
		!cmp.Equal(list, []ledger.Access{all[1], all[3]}) {
		t.Errorf("what was kept: %v, %v", list, err)
	}
	if n, err := b.Store.DropAccess(ctx, c.id, 1000, 9); n != 1 || err != nil {
		t.Errorf("dropped %d of what is past, %v; want all but the newest", n, err)
	}
	more := ledger.Access{Time: 60, Request: "later", Token: "reg-1", Method: "GET", Path: "/"}
	if err := b.Store.PutAccess(ctx, c.id, more); err != nil {
		t.Fatal(err)
	}
	if got, err := b.Store.AccessHead(ctx, c.id); err != nil || got != end.Next(more) {
		t.Errorf("after a drop the end of the chain is %+v, %v; want %+v", got, err, end.Next(more))
	}
	if n := b.Counts(t)["access_records"]; n != 3 {
		t.Errorf("%d accesses of both ledgers, want 3", n)
	}
	testAccessesTogether(t, b, other.id)
}

// testAccessesTogether: accesses that two daemons add at once form one chain.
func testAccessesTogether(t *testing.T, b Backend, id ledger.ID) {
	again := b.Open(t)
	defer again.Close()
	before, err := b.Store.AccessHead(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	group, ctx := errgroup.WithContext(t.Context())
	for i := range 40 {
		s := []ledger.Store{b.Store, again}[i%2]
		group.Go(func() error {
			return s.PutAccess(ctx, id,
				ledger.Access{Time: 7, Request: fmt.Sprint("together-", i), Token: "r", Method: "GET", Path: "/"})
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	if after, err := b.Store.AccessHead(t.Context(), id); err != nil || after.Count != before.Count+40 {
		t.Errorf("40 accesses at once led from %d to %d, %v", before.Count, after.Count, err)
	}
}

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
