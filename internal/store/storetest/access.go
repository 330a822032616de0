package storetest

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
	if err := b.Store.PutAccess(ctx, c.id, ledger.Access{Time: 20, Request: "a", Token: "x", Method: "GET", Path: "/"}); !errors.Is(err, ledger.ErrExists) {
		t.Errorf("the same request again: %v", err)
	}
	if err := b.Store.PutAccess(ctx, c.id, ledger.Access{Time: 50, Request: "z", Token: "x", Method: "GET", Path: strings.Repeat("é", 251)}); err == nil || errors.Is(err, ledger.ErrExists) {
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
	for before, want := range map[int64]int{0: 0, 10: 0, 11: 2, 30: 3, 31: 4} {
		if n, err := b.Store.CountAccess(ctx, c.id, before); n != want || err != nil {
			t.Errorf("%d accesses before %d, %v; want %d", n, before, err, want)
		}
	}
	if err := b.Store.PutAccess(ctx, other.id, all[0]); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct{ limit, want int }{{1, 1}, {9, 2}, {9, 0}} {
		if n, err := b.Store.DropAccess(ctx, c.id, 30, step.limit); n != step.want || err != nil {
			t.Errorf("dropped %d of at most %d, %v; want %d", n, step.limit, err, step.want)
		}
	}
	if list, err := b.Store.AccessRecords(ctx, c.id, ledger.AccessQuery{Limit: 9}); err != nil || !cmp.Equal(list, all[3:]) {
		t.Errorf("what was kept: %v, %v", list, err)
	}
	if n := b.Counts(t)["access_records"]; n != 2 {
		t.Errorf("%d accesses of both ledgers, want 2", n)
	}
}
