package dealer_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"os"
	"path/filepath"

	"shuffled/internal/bundle"
	"shuffled/internal/disclosure"
	"shuffled/internal/inspect"
	"shuffled/internal/ledger"
)

// exported is a table's ledger as an export reads it.
type exported struct{ *table }

func (x exported) Head(ctx context.Context) ([]byte, error) {
	h, err := x.cfg.Store.Head(ctx, x.Ledger().ID())
	return h.Checkpoint, err
}

func (x exported) Entries(ctx context.Context, from, to uint64) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for row, err := range x.cfg.Store.Rows(ctx, x.Ledger().ID(), from, to) {
			if !yield(row.Entry, err) || err != nil {
				return
			}
		}
	}
}

func (x exported) CheckpointAfter(ctx context.Context, index uint64) ([]byte, error) {
	h, err := x.cfg.Store.CheckpointAfter(ctx, x.Ledger().ID(), index)
	return h.Checkpoint, err
}

func (x exported) Cosigned(ctx context.Context, size uint64) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for h, err := range x.cfg.Store.CosignedFrom(ctx, x.Ledger().ID(), size) {
			if !yield(h.Checkpoint, err) || err != nil {
				return
			}
		}
	}
}

func (x exported) Deck(ctx context.Context, hash [32]byte) ([]string, error) {
	cards, err := x.cfg.Store.Deck(ctx, x.Ledger().ID(), hash)
	if errors.Is(err, ledger.ErrNotFound) {
		return nil, bundle.ErrNoDeck
	}
	return cards, err
}

func (x exported) Terms(ctx context.Context, hash [32]byte) ([]byte, error) {
	t, err := x.cfg.Store.Terms(ctx, x.Ledger().ID(), hash)
	if errors.Is(err, ledger.ErrNotFound) {
		return nil, bundle.ErrNoDeck
	}
	return t.Bytes, err
}

// inspected exports the ledger into a bundle and audits it from there.
func (tb *table) inspected(auditors []*disclosure.Auditor) *inspect.Report {
	tb.t.Helper()
	r, _ := tb.inspectedLines(auditors)
	return r
}

// inspectedLines returns the line of each shuffle besides, by id.
func (tb *table) inspectedLines(auditors []*disclosure.Auditor) (*inspect.Report, map[uint64]inspect.ShuffleLine) {
	tb.t.Helper()
	dir, err := os.MkdirTemp(tb.dir, "bundle-")
	must(tb.t, err)
	if _, err := bundle.Export(tb.t.Context(), exported{tb}, dir,
		bundle.Options{Origin: origin, Now: tb.now}); err != nil {
		tb.t.Fatal(err)
	}
	b, err := inspect.OpenBundle(dir)
	must(tb.t, err)
	defer b.Close()
	lines := filepath.Join(tb.dir, "shuffles.jsonl")
	r, err := inspect.Run(tb.t.Context(), b,
		inspect.Options{VKey: tb.vkey, Auditors: auditors, At: tb.now().UnixMilli(), Shuffles: lines})
	must(tb.t, err)
	return r, readLines(tb, lines)
}

func readLines(tb *table, name string) map[uint64]inspect.ShuffleLine {
	tb.t.Helper()
	f, err := os.Open(name)
	must(tb.t, err)
	defer f.Close()
	all := make(map[uint64]inspect.ShuffleLine)
	for s := bufio.NewScanner(f); s.Scan(); {
		var line inspect.ShuffleLine
		must(tb.t, json.Unmarshal(s.Bytes(), &line))
		all[line.ID] = line
	}
	return all
}
