package sequencer_test

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
	"shuffled/internal/ledger"
	"shuffled/internal/ledger/sequencer"
	"shuffled/internal/witness"
)

// slowly is a configuration where the third witness has an interval, and counts the checkpoints that it is offered.
func (w *witnessed) slowly(every time.Duration, asked *atomic.Int64) ledger.Config {
	c := w.config("mark")
	c.Probe = 10 * time.Millisecond
	slow := w.witnesses[2].Key.Name()
	c.Intervals = map[string]time.Duration{slow: every}
	c.Witness = func(lines []trust.Witness) (ledger.Witness, error) {
		of := counting{&witness.Client{URL: lines[0].URL, Keys: []note.Verifier{lines[0].Key}}, new(atomic.Int64)}
		if lines[0].Key.Name() == slow {
			of.times = asked
		}
		return of, nil
	}
	return c
}

// lateOver returns the head under which an entry is served once the third witness has cosigned one.
func (w *witnessed) lateOver(l *sequencer.Ledger, index uint64) (late ledger.Head) {
	w.t.Helper()
	waitFor(w.t, func() bool {
		h, err := l.BestHead(w.t.Context(), index)
		late = h
		return err == nil && w.lines(h) == 3
	})
	return late
}

// lines counts the witnesses that cosigned a head.
func (w *witnessed) lines(h ledger.Head) int {
	p, err := trust.ParsePolicy(w.genesis.Policy)
	if err != nil {
		w.t.Fatal(err)
	}
	return len(p.Cosignatures(h.Checkpoint))
}

// TestInterval: a witness with an interval is offered one checkpoint in it, also after a restart; the quorum is met
// without it. What it cosigned late is stored with the checkpoint, and served for the entries below.
func TestInterval(t *testing.T) {
	onBothStores(t, func(t *testing.T, store ledger.Store) {
		w := newWitnessed(t, store, audit.DealsCosigned)
		var asked atomic.Int64
		l := w.open(w.slowly(time.Hour, &asked))
		first := w.must(l, propose(commit("t", 1)))[0]
		w.awaitCosigned(l, first.Index)
		late := w.lateOver(l, 0)
		for n := range uint64(5) {
			w.awaitCosigned(l, w.must(l, propose(commit("u", n)))[0].Index)
		}
		last := l.Head().Size - 1
		if h, err := l.BestHead(t.Context(), last); err != nil || h.Size <= last || w.lines(h) != 2 {
			t.Errorf("above the late checkpoint: size %d with %d witnesses, %v", h.Size, w.lines(h), err)
		}
		l.Close()
		l = w.open(w.slowly(time.Hour, &asked))
		w.awaitCosigned(l, w.must(l, propose(commit("t", 2)))[0].Index)
		stored, err := store.NewestLate(t.Context(), l.ID(), 9)
		if err != nil || len(stored) != 1 || string(stored[0].Checkpoint) != string(late.Checkpoint) {
			t.Errorf("%d late checkpoints are stored: %v", len(stored), err)
		}
		text, err := l.Receipt(t.Context(), 0)
		if err != nil || !strings.Contains(text, string(late.Checkpoint)) {
			t.Errorf("the receipt is not under the late checkpoint: %v\n%s", err, text)
		}
		l.Close()
		if n := asked.Load(); n != 1 {
			t.Errorf("asked %d times in one interval", n)
		}

		l = w.open(w.slowly(time.Millisecond, &asked))
		index := w.must(l, propose(commit("t", 3)))[0].Index
		if h := w.lateOver(l, index); h.Size <= index {
			t.Errorf("entry %d under size %d", index, h.Size)
		}
		if h, err := l.BestHead(t.Context(), 0); err != nil || h.Size != late.Size {
			t.Errorf("the first late checkpoint is left for size %d: %v", h.Size, err)
		}
		idle := asked.Load()
		waitFor(t, func() bool { // the newest is cosigned, and nothing more is offered
			before := idle
			idle = asked.Load()
			stored, err := store.NewestLate(t.Context(), l.ID(), 1)
			return err == nil && stored[0].Size == l.Head().Size && before == idle
		})
	})
}

// TestLateFails: a witness with an interval that is down stops nothing, and is asked again after its interval.
func TestLateFails(t *testing.T) {
	t.Parallel()
	w := newWitnessed(t, openSQLite(t), audit.DealsCosigned)
	var asked atomic.Int64
	w.down(true, 2)
	l := w.open(w.slowly(20*time.Millisecond, &asked))
	index := w.must(l, propose(commit("t", 1)))[0].Index
	w.awaitCosigned(l, index)
	waitFor(t, func() bool { return asked.Load() > 1 })
	if h, err := l.BestHead(t.Context(), index); err != nil || w.lines(h) != 2 {
		t.Errorf("%d witnesses: %v", w.lines(h), err)
	}
	w.down(false, 2)
	w.lateOver(l, index)
}

// TestLateAhead: neither a cosignature of the future nor a stored size that nobody signed
// ends the asking, also after a restart.
func TestLateAhead(t *testing.T) {
	t.Parallel()
	store := openSQLite(t)
	w := newWitnessed(t, store, audit.DealsCosigned)
	w.witnesses[2].Ahead(time.Hour)
	var asked atomic.Int64
	for n := range uint64(2) {
		l := w.open(w.slowly(20*time.Millisecond, &asked))
		for m := range uint64(2) {
			index := w.must(l, propose(commit("t", 2*n+m)))[0].Index
			w.awaitCosigned(l, index)
			w.lateOver(l, index)
		}
		planted := w.must(l, propose(commit("u", n)))[0].Index
		h, _ := l.Cosigned()
		h.Size = 1<<62 + n
		must(t, store.PutLate(t.Context(), l.ID(), h))
		w.awaitCosigned(l, planted)
		w.lateOver(l, planted)
		l.Close()
	}
	before := asked.Load()
	l := w.open(w.slowly(time.Hour, &asked))
	w.must(l, propose(commit("t", 9)))
	waitFor(t, func() bool { return asked.Load() > before }) // the stored times are in the future
}

// TestLateChecks: stored checkpoints that lack the cosignature of a witness with an interval
// are not checked one by one for each receipt, nor any number that do not hold.
func TestLateChecks(t *testing.T) {
	t.Parallel()
	store := openSQLite(t)
	w := newWitnessed(t, store, audit.DealsCosigned)
	w.down(true, 2)
	var asked, checked atomic.Int64
	c := w.slowly(time.Hour, &asked)
	c.Log = slog.New(said{slog.DiscardHandler, "a stored cosigned checkpoint is not valid", &checked})
	l := w.open(c)
	w.awaitCosigned(l, w.must(l, propose(commit("t", 1)))[0].Index)
	waitFor(t, func() bool { return asked.Load() > 0 })
	first, _ := l.Cosigned()
	var bodies []audit.Body
	for n := range uint64(150) {
		bodies = append(bodies, commit("u", n))
	}
	w.awaitCosigned(l, w.must(l, propose(bodies...))[149].Index)
	must(t, store.PutLate(t.Context(), l.ID(), first))
	for n := range uint64(140) { // of another head, which is logged when one is checked
		if err := store.PutLate(t.Context(), l.ID(), ledger.Head{Size: first.Size + 1 + n, Root: first.Root,
			Checkpoint: first.Checkpoint}); err != nil {
			t.Fatal(err)
		}
	}
	if h, err := l.BestHead(t.Context(), 0); err != nil || h.Size != first.Size || checked.Load() > 0 {
		t.Errorf("size %d, not %d, and %d others were checked: %v", h.Size, first.Size, checked.Load(), err)
	}
	if h, err := l.BestHead(t.Context(), first.Size); err != nil || h.Size != l.Head().Size ||
		checked.Load() != sequencer.MaxUnheld {
		t.Errorf("size %d, and %d that do not hold were checked: %v", h.Size, checked.Load(), err)
	}
}

// said counts the lines of a log that begin so.
type said struct {
	slog.Handler
	begin string
	times *atomic.Int64
}

func (said) Enabled(context.Context, slog.Level) bool { return true }
func (s said) WithAttrs([]slog.Attr) slog.Handler     { return s }
func (s said) Handle(_ context.Context, r slog.Record) error {
	if strings.HasPrefix(r.Message, s.begin) {
		s.times.Add(1)
	}
	return nil
}

// TestIntervalNeeded: intervals for witnesses without which the quorum cannot be met stop
// the start, and a policy that needs one is not taken.
func TestIntervalNeeded(t *testing.T) {
	t.Parallel()
	w := newWitnessed(t, openSQLite(t), audit.DealsCosigned)
	var asked atomic.Int64
	c := w.slowly(time.Hour, &asked)
	c.Intervals[w.witnesses[1].Key.Name()] = time.Minute
	l, err := sequencer.Open(t.Context(), c)
	if err == nil || !strings.Contains(err.Error(), w.witnesses[1].Key.Name()) {
		if err == nil {
			l.Close()
		}
		t.Errorf("two of three have an interval, and two are needed: %v", err)
	}
	l = w.open(w.slowly(time.Hour, &asked))
	_, err = l.AddKey(t.Context(), as("tok_admin"), &audit.Key{Subject: audit.SubjectPolicy, Policy: w.all("")}, nil)
	if err == nil || !strings.Contains(err.Error(), "witness.intervals") {
		t.Errorf("a policy that needs every witness: %v", err)
	}
	unread := &audit.Key{Subject: audit.SubjectPolicy, Policy: []byte("quorum\n")}
	_, err = l.AddKey(t.Context(), as("tok_admin"), unread, nil)
	if err == nil || strings.Contains(err.Error(), "witness.intervals") {
		t.Errorf("a policy that cannot be read: %v", err)
	}
}
