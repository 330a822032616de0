package dealer_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/bundle"
	"shuffled/internal/dealer/api"
	"shuffled/internal/inspect"
	"shuffled/internal/ledger"
	"shuffled/internal/stops"
	"shuffled/internal/terms"
	"shuffled/internal/verify"
)

// TestTerms: a wheel from its document to the labels in the verdict and the file in the
// bundle, without which an audit has a fault.
func TestTerms(t *testing.T) {
	onEachStore(t, setting{}, func(t *testing.T, tb *table) {
		wheel, err := terms.NewWheel([]terms.Label{{Label: "nothing", Weight: 9989}, {Label: "a car", Weight: 10},
			{Label: "a trip", Weight: 1}})
		must(t, err)
		bound := &audit.Terms{Kind: audit.TermsWheel, Hash: wheel.Hash()}
		req := api.DrawsRequest{Table: "t", Ranges: []uint32{10_000, 10_000}, Terms: bound}
		_, err = tb.Draws(t.Context(), as("tester"), "early", req)
		wantRefusal(t, "terms that were not put", err, "terms.hash", "")
		for range 2 {
			must(t, tb.PutTerms(t.Context(), wheel))
		}
		bad := req
		bad.Ranges = []uint32{10_000, 9999}
		_, err = tb.Draws(t.Context(), as("tester"), "bad", bad)
		wantRefusal(t, "a range that is not the total", err, "ranges[1]", "")
		_, err = tb.Shuffle(t.Context(), as("tester"), "cards", api.ShuffleRequest{Table: "t", Deck: "standard-52",
			Terms: bound})
		wantRefusal(t, "a wheel with cards", err, "terms", "")
		kind := req
		kind.Terms = &audit.Terms{Kind: audit.TermsPayTable, Hash: bound.Hash}
		_, err = tb.Draws(t.Context(), as("tester"), "kind", kind)
		wantRefusal(t, "a wheel as a pay table", err, "terms", "")

		s := tb.draw("spins", req)
		spins := api.DealRequest{Runs: []audit.Run{board(2)}}
		for _, what := range []string{"spun", "asked for again"} {
			d := tb.deal(s.ID, spins)
			if want := []string{wheel.Label(d.Shows[0]), wheel.Label(d.Shows[1])}; !slices.Equal(d.Labels, want) {
				t.Errorf("%s, %d show %q, want %q", what, d.Shows, d.Labels, want)
			}
		}
		file := tb.transcript(s.ID, api.View{})
		if !bytes.Equal(file.Terms, wheel.Bytes()) {
			t.Errorf("the transcript has the terms %q", file.Terms)
		}
		text, err := file.Marshal()
		must(t, err)
		v := verify.Transcript(text, verify.Trust{VKey: tb.vkey})
		if v.Verdict != verify.Proved || len(v.Cards) != 2 || v.Cards[0].Label != wheel.Label(v.Cards[0].Shows) {
			t.Errorf("%+v", v)
		}
		tb.auditTerms(wheel)
	})
}

// TestLabels: a reveal has the labels of what it shows, and draws without a wheel have none.
func TestLabels(t *testing.T) {
	onEachStore(t, setting{}, func(t *testing.T, tb *table) {
		wheel, err := terms.NewWheel([]terms.Label{{Label: "nothing", Weight: 5}, {Label: "a car", Weight: 5}})
		must(t, err)
		must(t, tb.PutTerms(t.Context(), wheel))
		s := tb.draw("spins", api.DrawsRequest{Table: "t", Ranges: []uint32{10, 10, 10},
			Terms: &audit.Terms{Kind: audit.TermsWheel, Hash: wheel.Hash()}})
		hidden := board(3)
		hidden.Public = false
		d := tb.deal(s.ID, api.DealRequest{Runs: []audit.Run{hidden}})
		for range 2 {
			r, err := tb.Reveal(t.Context(), as("tester"), s.ID, api.RevealRequest{Places: []int{2, 0}})
			if want := []string{d.Labels[0], d.Labels[2]}; err != nil || !slices.Equal(r.Labels, want) {
				t.Errorf("revealed %q, want %q: %v", r.Labels, want, err)
			}
		}
		plain := tb.draw("plain", api.DrawsRequest{Table: "t", Ranges: []uint32{10}})
		if d := tb.deal(plain.ID, api.DealRequest{Runs: []audit.Run{board(1)}}); d.Labels != nil {
			t.Errorf("without a wheel: %q", d.Labels)
		}
	})
}

// TestTermsOfChild: a child has its parent's terms, and asks for none.
func TestTermsOfChild(t *testing.T) {
	onEachStore(t, setting{}, func(t *testing.T, tb *table) {
		pays, err := terms.NewPayTable("a pair: 1\n")
		must(t, err)
		must(t, tb.PutTerms(t.Context(), pays))
		bound := &audit.Terms{Kind: audit.TermsPayTable, Hash: pays.Hash()}
		parent := tb.commit("parent", api.ShuffleRequest{Table: "t", Deck: "standard-52", Terms: bound})
		_, err = tb.Shuffle(t.Context(), as("tester"), "own", api.ShuffleRequest{Table: "t", Terms: bound,
			Parent: &api.Parent{ID: parent.ID}})
		wantRefusal(t, "a child with terms of its own", err, "terms", "")
		child := tb.commit("child", api.ShuffleRequest{Table: "t", Parent: &api.Parent{ID: parent.ID}})
		if got := tb.commitOf(child.ID).Context.Terms; got == nil || *got != *bound {
			t.Errorf("the child has the terms %+v", got)
		}
	})
}

// TestTermsAltered: a document that somebody put in the place of another one is not taken for it, stops nothing else,
// and is called what it is.
func TestTermsAltered(t *testing.T) {
	t.Parallel()
	tb := newTableWith(t, setting{})
	pays, err := terms.NewPayTable("a pair: 1\n")
	must(t, err)
	must(t, tb.PutTerms(t.Context(), pays))
	other, err := terms.NewPayTable("a pair: 2\n")
	must(t, err)
	tb.administer("DROP TRIGGER terms_no_update", fmt.Sprintf("UPDATE terms SET bytes = x'%x'", other.Bytes()))
	bound := &audit.Terms{Kind: audit.TermsPayTable, Hash: pays.Hash()}
	_, err = tb.Shuffle(t.Context(), as("tester"), "k",
		api.ShuffleRequest{Table: "t", Deck: "standard-52", Terms: bound})
	if !errors.Is(err, ledger.ErrUnavailable) || errors.Is(err, ledger.ErrFrozen) || stops.Of(err) != stops.Altered {
		t.Errorf("%v", err)
	}
	tb.commit("another", api.ShuffleRequest{Table: "t", Deck: "standard-52"})
}

// auditTerms audits the bundle of the ledger: whole, and with its document missing, emptied and exchanged.
func (tb *table) auditTerms(document *terms.Document) {
	tb.t.Helper()
	dir := tb.t.TempDir()
	if _, err := bundle.Export(tb.t.Context(), exported{tb}, dir,
		bundle.Options{Origin: origin, Now: tb.now}); err != nil {
		tb.t.Fatal(err)
	}
	file := filepath.Join(dir, "terms", fmt.Sprintf("%x", document.Hash()))
	for name, want := range map[string]struct {
		do   func() error
		code string
	}{
		"1 whole":     {func() error { return nil }, ""},
		"2 exchanged": {func() error { return os.WriteFile(file, []byte("a pay table"), 0o600) }, inspect.CodeTerms},
		"3 empty":     {func() error { return os.WriteFile(file, nil, 0o600) }, inspect.CodeTerms},
		"4 missing":   {func() error { return os.Remove(file) }, inspect.CodeTerms},
	} {
		tb.t.Run(name, func(t *testing.T) {
			must(t, os.WriteFile(file, document.Bytes(), 0o600))
			must(t, want.do())
			b, err := inspect.OpenBundle(dir)
			must(t, err)
			defer b.Close()
			r, err := inspect.Run(t.Context(), b, inspect.Options{VKey: tb.vkey, At: tb.now().UnixMilli()})
			must(t, err)
			if want.code == "" && len(r.Faults) == 0 {
				return
			}
			if len(r.Faults) != 1 || r.Faults[0].Code != want.code {
				t.Errorf("faults %+v, want %q", r.Faults, want.code)
			}
		})
	}
}
