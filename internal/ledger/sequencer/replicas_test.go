package sequencer_test

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
	"shuffled/internal/ledger/sequencer"
)

// second opens another daemon on the house's ledger.
func (h *house) second(change func(*ledger.Config)) *sequencer.Ledger {
	h.t.Helper()
	c := h.config("mark2")
	c.AdoptHead = "a second daemon"
	if change != nil {
		change(&c)
	}
	return h.open(c)
}

func oneCard(id uint64) *audit.Deal {
	return &audit.Deal{Shuffle: id, Runs: []audit.Run{{Count: 1, Purpose: audit.PurposeSeat}}}
}

// TestEqualFirstRows: two daemons write batches that begin with the same bytes, as a client's retry through a load
// balancer makes them. The slower one must not take the other's batch for its own.
func TestEqualFirstRows(t *testing.T) {
	onBoth(t, func(t *testing.T, h *house) {
		at := time.Now().Add(time.Second)
		still := func(c *ledger.Config) { c.Clock = func() (time.Time, time.Duration) { return at, 0 } }
		f := &faultyStore{Store: h.store}
		ca := h.config("mark")
		still(&ca)
		a := h.open(ca)
		b := h.second(func(c *ledger.Config) { still(c); c.Store = f })
		id := h.must(b, propose(commit("t", 1)))[0].Index
		h.must(a, propose(commit("z", 1))) // both are current,
		h.must(b, propose(commit("z", 2)))
		f.failAppend(func(real func() error) error {
			h.must(a, propose(oneCard(id))) // and A is first
			return real()
		})
		_, err := on(b).Append(t.Context(), propose(oneCard(id), commit("u", 7)))
		var illegal *audit.Illegal
		if !errors.As(err, &illegal) || illegal.Code != audit.RulePlace {
			t.Errorf("the slower batch: %v", err)
		}
		head, err := h.store.Head(t.Context(), b.ID())
		if err != nil || b.Head().Size > head.Size || b.Head().Size == head.Size && b.Head().Root != head.Root {
			t.Errorf("the slower daemon serves a head of size %d that the store never had (%v)", b.Head().Size, err)
		}
		h.must(b, propose(commit("u", 7)))
		h.entries()
	})
}

// TestNoRefusalFromStaleMemory: what another daemon wrote counts before anything is refused.
func TestNoRefusalFromStaleMemory(t *testing.T) {
	onBoth(t, func(t *testing.T, h *house) {
		rarely := func(c *ledger.Config) { c.Probe = time.Hour } // so that no probe helps
		ca := h.config("mark")
		rarely(&ca)
		a, b := h.open(ca), h.second(rarely)
		id := h.must(a, propose(commit("t", 1)))[0].Index
		h.must(b, propose(oneCard(id)))
		h.must(b, propose(&audit.Event{Kind: audit.EventLatchSet, Latch: audit.LatchOperator}))
		h.must(a, propose(&audit.Event{Kind: audit.EventLatchClear, Reason: "all is well"}))
		h.must(b, propose(commit("t", 2)))
	})
}

// TestNoRefusalFromAnUndoneDraft: a deal is not refused because of a close in front of it that then was not written.
func TestNoRefusalFromAnUndoneDraft(t *testing.T) {
	onBoth(t, func(t *testing.T, h *house) {
		f := &faultyStore{Store: h.store}
		h.store = f
		l := h.open(h.config("mark"))
		id := h.must(l, propose(commit("t", 1)))[0].Index
		entered, release := make(chan struct{}), make(chan struct{})
		f.failAppend(func(real func() error) error {
			close(entered)
			<-release
			f.failAppend(func(func() error) error { return errors.New("connection refused") })
			return real()
		})
		results := make(map[string]chan error)
		appendLater := func(name string, b audit.Body, queued int) {
			results[name] = make(chan error, 1)
			go func() { _, err := on(l).Append(context.Background(), propose(b)); results[name] <- err }()
			waitFor(t, func() bool { return l.QueueLen() == queued })
		}
		appendLater("first", commit("u", 1), 0)
		<-entered
		appendLater("close", &audit.Close{Shuffle: id, Outcome: audit.OutcomeCompleted, Form: audit.FormTape,
			Tape: tape()}, 1)
		appendLater("deal", oneCard(id), 2)
		close(release)
		for name, want := range map[string]error{"first": nil, "close": ledger.ErrUnavailable,
			"deal": ledger.ErrUnavailable} {
			if err := <-results[name]; !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", name, err, want)
			}
		}
	})
}

// countedRows counts how many rows are read at a time.
type countedRows struct {
	ledger.Store
	most uint64
}

func (c *countedRows) Rows(ctx context.Context, id ledger.ID, from, to uint64) iter.Seq2[ledger.Row, error] {
	c.most = max(c.most, to-from)
	return c.Store.Rows(ctx, id, from, to)
}

// TestCatchUpInSteps: a daemon far behind folds in steps, each from one signed
// checkpoint to another, so that a time-out loses one step and not all.
func TestCatchUpInSteps(t *testing.T) {
	t.Parallel()
	h := newHouse(t, openSQLite(t))
	rows := &countedRows{Store: h.store}
	a := h.open(h.config("mark"))
	b := h.second(func(c *ledger.Config) { c.Store, c.Probe = rows, time.Hour })
	rows.most = 0
	for i := range uint64(20) {
		bodies := make([]audit.Body, 1000)
		for j := range bodies {
			bodies[j] = commit("t", i*1000+uint64(j))
		}
		if _, err := on(a).Append(t.Context(), propose(bodies...)); err != nil {
			t.Fatal(err)
		}
	}
	h.must(b, propose(commit("u", 1)))
	if rows.most == 0 || rows.most > 6000 {
		t.Errorf("20,000 entries were folded in steps of up to %d", rows.most)
	}
}

// TestSignerAway: a signing key that does not answer refuses the batch, and the ledger works again when it does.
func TestSignerAway(t *testing.T) {
	t.Parallel()
	h := newHouse(t, openSQLite(t))
	s := &awaySigner{Signer: h.signer}
	c := h.config("mark")
	c.Signers = []note.Signer{s}
	l := h.open(c)
	s.away.Store(true)
	results := make(chan error, 2)
	for _, b := range []audit.Body{commit("t", 1), oneCard(77)} {
		go func() { _, err := on(l).Append(context.Background(), propose(b)); results <- err }()
	}
	for range 2 {
		if err := <-results; err == nil {
			t.Error("an entry was written without a signature")
		}
	}
	s.away.Store(false)
	waitReady(t, l)
	h.must(l, propose(commit("t", 1)))
}

type awaySigner struct {
	note.Signer
	away atomic.Bool
}

func (s *awaySigner) Sign(msg []byte) ([]byte, error) {
	if s.away.Load() {
		return nil, errors.New("the key is away")
	}
	return s.Signer.Sign(msg)
}

// TestNotReadyUntilAppendsWork: a store that can be read but not written is not
// ready, and the ledger says when it was written again.
func TestNotReadyUntilAppendsWork(t *testing.T) {
	t.Parallel()
	h := newHouse(t, openSQLite(t))
	f := &faultyStore{Store: h.store}
	h.store = f
	l := h.open(h.config("mark"))
	probes := make(chan struct{}, 10)
	var broken func(func() error) error
	broken = func(func() error) error {
		f.failAppend(broken)
		select {
		case probes <- struct{}{}:
		default:
		}
		return errors.New("no space left on device")
	}
	f.failAppend(broken)
	if _, err := on(l).Append(t.Context(), propose(commit("t", 1))); !errors.Is(err, ledger.ErrUnavailable) {
		t.Errorf("a full disk: %v", err)
	}
	for range 5 { // probes that all fail
		<-probes
		if l.Ready() == nil {
			t.Error("ready although nothing can be written")
		}
	}
	f.failAppend(nil)
	waitReady(t, l)
	h.must(l, propose(commit("t", 1)))
	if n := len(h.entries()); n != 4 {
		t.Errorf("%d entries, want 4: one alarm", n)
	}
}

// TestCreateBesideAMark: a ledger that this host has seen is not begun again.
func TestCreateBesideAMark(t *testing.T) {
	t.Parallel()
	h := newHouse(t, openSQLite(t))
	err := sequencer.Create(t.Context(), openSQLite(t), ledger.Info{Name: "main", Origin: origin}, &audit.Genesis{},
		h.signer, h.mark("mark"), time.Now())
	if err == nil {
		t.Error("a second genesis was signed")
	}
}

// TestLostMark: a daemon that cannot write its mark any more stops, also when
// all it does is follow what another one writes.
func TestLostMark(t *testing.T) {
	t.Parallel()
	h := newHouse(t, openSQLite(t))
	other := h.open(h.config("mark"))
	h.copyMark("mark", "second")
	l := h.open(h.config("second"))
	l.BreakMark()
	for n := range uint64(20) {
		h.must(other, propose(commit("t", n)))
		waitFor(t, func() bool { return l.Head().Size >= other.Head().Size })
		if err := l.Ready(); !errors.Is(err, ledger.ErrFrozen) {
			t.Fatalf("without a mark: %v", err)
		}
	}
}

// countedLooks counts the reads with which a daemon looks for what others wrote.
type countedLooks struct {
	ledger.Store
	heads, looks atomic.Int64
}

func (c *countedLooks) Head(ctx context.Context, id ledger.ID) (ledger.Head, error) {
	c.heads.Add(1)
	return c.Store.Head(ctx, id)
}

func (c *countedLooks) CheckpointAfter(ctx context.Context, id ledger.ID, index uint64) (ledger.Head, error) {
	c.looks.Add(1)
	return c.Store.CheckpointAfter(ctx, id, index)
}

// TestAloneForNothing: a daemon that is alone reads nothing between its batches.
func TestAloneForNothing(t *testing.T) {
	t.Parallel()
	h := newHouse(t, openSQLite(t))
	s := &countedLooks{Store: h.store}
	c := h.config("mark")
	c.Store, c.Probe = s, time.Hour
	l := h.open(c)
	s.heads.Store(0)
	s.looks.Store(0)
	for n := range uint64(20) {
		h.must(l, propose(commit("t", n)))
	}
	if s.heads.Load() != 0 || s.looks.Load() != 0 {
		t.Errorf("20 batches alone: %d heads and %d checkpoints were read", s.heads.Load(), s.looks.Load())
	}
}

// TestMostTries: a request that is overtaken every time is refused, with nothing written, and not prepared for ever.
func TestMostTries(t *testing.T) {
	t.Parallel()
	h := newHouse(t, openSQLite(t))
	f := &faultyStore{Store: h.store}
	a := h.open(h.config("mark"))
	b := h.second(func(c *ledger.Config) { c.Store, c.Probe = f, time.Hour })
	var tries, n int
	var overtake func(real func() error) error
	overtake = func(real func() error) error {
		tries++
		n++
		h.must(a, propose(commit("a", uint64(n))))
		f.failAppend(overtake)
		return real()
	}
	f.failAppend(overtake)
	_, err := on(b).Append(t.Context(), propose(commit("b", 1)))
	if !errors.Is(err, ledger.ErrUnavailable) || tries != sequencer.MostTries {
		t.Errorf("after %d tries: %v", tries, err)
	}
	f.failAppend(nil)
	waitReady(t, b)
	h.must(b, propose(commit("b", 1)))
	if got := b.Live().Appends; got.Most != sequencer.MostTries || got.Lost != sequencer.MostTries {
		t.Errorf("counted: %+v", got)
	}
	h.entries()
}
