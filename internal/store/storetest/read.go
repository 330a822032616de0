package storetest

import (
	"context"
	"errors"
	"testing"

	"shuffled/internal/ledger"
)

func testRows(t *testing.T, b Backend) {
	c := newChain(t, b.Store, "main")
	newChain(t, b.Store, "other")
	for c.head.Size < 1300 {
		var rows []ledger.Row
		for range 433 {
			rows = append(rows, eventRow(t))
		}
		c.mustAppend(c.batch(rows...))
	}
	n := c.head.Size
	for _, r := range []struct{ from, to, first, end uint64 }{
		{0, n, 0, n}, {0, 0, 0, 0}, {5, 5, 5, 5}, {7, 3, 7, 7}, {0, 1, 0, 1}, {n - 1, n, n - 1, n},
		{0, 512, 0, 512}, {1, 514, 1, 514}, {3, 1200, 3, 1200},
		{n, n + 10, n, n}, {n - 3, n + 3, n - 3, n}, {0, 1 << 62, 0, n}, {10, 1<<64 - 1, 10, n},
		{1<<64 - 2, 1<<64 - 1, 0, 0},
	} {
		got := c.rows(r.from, r.to)
		if uint64(len(got)) != r.end-r.first {
			t.Errorf("rows %d to %d: %d of them", r.from, r.to, len(got))
			continue
		}
		for i, row := range got {
			if row.Index != r.first+uint64(i) {
				t.Fatalf("rows %d to %d: index %d at place %d", r.from, r.to, row.Index, i)
			}
		}
	}
	if got := c.rowsOf(ledger.IDOf("example.org/unknown"), 0, 1<<40); len(got) != 0 {
		t.Errorf("an unknown ledger has %d rows", len(got))
	}
	// Leaving the loop leaves nothing behind, nor does using the store in it.
	for range 100 {
		for row, err := range b.Store.Rows(t.Context(), c.id, 0, n) {
			if err != nil {
				t.Fatal(err)
			}
			if row.Index == 1 {
				break
			}
			if _, err := b.Store.Head(t.Context(), c.id); err != nil {
				t.Fatal(err)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range b.Store.Rows(ctx, c.id, 0, n) {
		if err == nil {
			t.Fatal("a cancelled read went on")
		}
	}
}

func testClosed(t *testing.T, b Backend) {
	c := newChain(t, b.Store, "main")
	again := b.Open(t)
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	var failures []error
	_, err := again.Ledgers(ctx)
	failures = append(failures, err)
	_, err = again.Head(ctx, c.id)
	failures = append(failures, err, again.Append(ctx, c.id, c.head, c.batch(eventRow(t))))
	_, err = again.ByKeyTags(ctx, c.id, tag(1))
	failures = append(failures, err)
	_, err = again.ByShuffles(ctx, c.id, ledger.Durable, 1)
	failures = append(failures, err)
	_, err = again.CosignedAtMost(ctx, c.id, 9)
	failures = append(failures, err, again.PutCosigned(ctx, c.id, cosigned(9, 0)))
	for _, err := range again.CosignedFrom(ctx, c.id, 0) {
		failures = append(failures, err)
	}
	for _, rowErr := range again.Rows(ctx, c.id, 0, 1) {
		failures = append(failures, rowErr)
	}
	if len(failures) != 9 {
		t.Errorf("%d answers of a closed store", len(failures))
	}
	for i, err := range failures {
		if err == nil || errors.Is(err, ledger.ErrNotFound) || errors.Is(err, ledger.ErrStale) ||
			errors.Is(err, ledger.ErrUnknownOutcome) {
			t.Errorf("call %d of a closed store: %v", i, err)
		}
	}
	c.check()
}
