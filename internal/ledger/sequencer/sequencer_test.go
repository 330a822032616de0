package sequencer_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
	"shuffled/internal/ledger/sequencer"
	"shuffled/internal/stops"
)

func TestAppend(t *testing.T) {
	onBoth(t, func(t *testing.T, h *house) {
		l := h.open(h.config("mark"))
		first := h.must(l, propose(commit("t1", 1)))[0]
		second := h.must(l, propose(commit("t1", 2)))[0]
		c1, c2 := first.Entry.Body.(*audit.Commit), second.Entry.Body.(*audit.Commit)
		if first.Index != 2 || c1.Serial != 1 || c1.Previous != 0 || c1.Instance != 1 {
			t.Errorf("first commit: index %d, %+v", first.Index, c1)
		}
		if c2.Serial != 2 || c2.Previous != first.Index || second.Entry.Time < first.Entry.Time {
			t.Errorf("second commit: %+v", c2)
		}
		if life := c1.CloseBy - first.Entry.Time; life != 3600*1000 {
			t.Errorf("the default close-by is %d ms after the commit", life)
		}

		deal := &audit.Deal{Shuffle: second.Index, Runs: []audit.Run{{Count: 1, Purpose: audit.PurposeBurn}}}
		// A final deal and its close stand together, or not at all.
		end := &audit.Close{Shuffle: first.Index, Outcome: audit.OutcomeCompleted, Form: audit.FormTape, Tape: tape()}
		final := &audit.Deal{Shuffle: first.Index, Final: true,
			Runs: []audit.Run{{Count: 2, Purpose: audit.PurposeSeat}}}
		if _, err := on(l).Append(t.Context(), propose(final)); err == nil {
			t.Error("a final deal without its close was accepted")
		}
		both := h.must(l, propose(final, end))
		if both[1].Index != both[0].Index+1 ||
			string(both[0].Receipt.Checkpoint) != string(both[1].Receipt.Checkpoint) {
			t.Errorf("deal and close at %d and %d", both[0].Index, both[1].Index)
		}
		h.must(l, propose(deal))
		if got := len(h.entries()); got != 7 {
			t.Errorf("%d entries, want 7", got)
		}
		if live := l.Live(); live.Size != 7 || live.Open != 1 {
			t.Errorf("live: %+v", live)
		}
	})
}

// TestAppendTogether: what arrives at the same time lands, each once, with
// serials without gaps, also when two requests carry the same key.
func TestAppendTogether(t *testing.T) {
	onBoth(t, func(t *testing.T, h *house) {
		l := h.open(h.config("mark"))
		const clients, each = 16, 25
		var wg sync.WaitGroup
		var duplicates, landed sync.Map
		for client := range clients {
			wg.Go(func() {
				for i := range each {
					// Clients in pairs propose the same keys.
					_, err := on(l).Append(context.Background(),
						propose(commit(fmt.Sprintf("t%d", client%4), uint64(client/2*each+i))))
					var duplicate *ledger.DuplicateError
					switch {
					case err == nil:
						landed.Store([2]int{client, i}, true)
					case errors.As(err, &duplicate):
						duplicates.Store([2]int{client, i}, true)
					default:
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		tags := make(map[[32]byte]bool)
		for _, e := range h.entries() { // legal: serials have no gap
			if c, ok := e.Body.(*audit.Commit); ok {
				if tags[c.KeyTag] {
					t.Error("a key tag stands twice")
				}
				tags[c.KeyTag] = true
			}
		}
		count := func(m *sync.Map) (n int) { m.Range(func(any, any) bool { n++; return true }); return n }
		if len(tags) != count(&landed) || count(&landed)+count(&duplicates) != clients*each {
			t.Errorf("%d tags, %d landed, %d duplicates of %d", len(tags), count(&landed), count(&duplicates),
				clients*each)
		}
	})
}

// TestTogetherLimits: what is all or none has at most 1,024 entries and 8 MiB; what has
// more is refused, and nothing of it written.
func TestTogetherLimits(t *testing.T) {
	onBoth(t, func(t *testing.T, h *house) {
		l := h.open(h.config("mark"))
		for what, c := range map[string]struct{ proposals, sealed int }{
			"entries": {1024, 0}, "bytes": {2, 8 << 20}} {
			for above := range 2 {
				var all []ledger.Proposal
				for i := range c.proposals + above*(1-c.sealed>>23) {
					p := on(l).of(propose(commit(fmt.Sprintf("%s-%d-%d", what, above, i), 1)))
					p.Kept = [][]byte{make([]byte, c.sealed/c.proposals+above*i*(c.sealed>>23))}
					all = append(all, p)
				}
				size := l.Live().Size
				answers := l.AppendTogether(t.Context(), all, nil)
				err, written := answers[0].Err, int(l.Live().Size-size)
				if above == 0 && (err != nil || len(answers) != len(all) || written != len(all)) ||
					above == 1 && (!errors.Is(err, ledger.ErrTooLarge) || written != 0) {
					t.Errorf("%s, %d above the limit: %d entries, %v", what, above, written, err)
				}
			}
		}
	})
}

// TestUnknownOutcomes is a table of what can happen to the statement that commits a batch, each twice: it was written,
// or it was not. The answer must be true and the entry must stand exactly once.
func TestUnknownOutcomes(t *testing.T) {
	t.Parallel()
	lost := fmt.Errorf("the connection broke: %w", ledger.ErrUnknownOutcome)
	for name, fault := range map[string]func(f *faultyStore, real func() error) error{
		"lost before it arrived": func(_ *faultyStore, _ func() error) error { return lost },
		"lost after it was written": func(_ *faultyStore, real func() error) error {
			return errors.Join(real(), lost)
		},
		"lost twice, written the first time": func(f *faultyStore, real func() error) error {
			f.append = func(func() error) error { return lost }
			return errors.Join(real(), lost)
		},
		"lost twice, written the second time": func(f *faultyStore, _ func() error) error {
			f.append = func(real func() error) error { return errors.Join(real(), lost) }
			return lost
		},
		"lost, then the store is away": func(f *faultyStore, real func() error) error {
			f.append = func(func() error) error { return errors.New("connection refused") }
			return errors.Join(real(), lost)
		},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, h *house) {
				f := &faultyStore{Store: h.store}
				h.store = f
				l := h.open(h.config("mark"))
				h.must(l, propose(commit("t", 1)))
				f.failAppend(func(real func() error) error {
					f.mu.Lock()
					defer f.mu.Unlock()
					return fault(f, real)
				})
				a := h.must(l, propose(commit("t", 2)))
				if c := a[0].Entry.Body.(*audit.Commit); c.Serial != 2 {
					t.Errorf("serial %d", c.Serial)
				}
				h.must(l, propose(commit("t", 3)))
				commits := 0 // a slow store may have an alarm alongside
				for _, e := range h.entries() {
					if _, ok := e.Body.(*audit.Commit); ok {
						commits++
					}
				}
				if commits != 3 {
					t.Errorf("%d commits, want 3", commits)
				}
				if err := l.Ready(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestStoreAway: an error before anything was sent refuses the request, and the
// ledger serves again as soon as the store does.
func TestStoreAway(t *testing.T) {
	onBoth(t, func(t *testing.T, h *house) {
		f := &faultyStore{Store: h.store}
		h.store = f
		l := h.open(h.config("mark"))
		f.failAppend(func(func() error) error { return errors.New("connection refused") })
		if _, err := on(l).Append(t.Context(), propose(commit("t", 1))); !errors.Is(err, ledger.ErrUnavailable) {
			t.Errorf("the store is away: %v", err)
		}
		h.must(l, propose(commit("t", 1)))
		waitReady(t, l)
		// genesis, instance_start, the commit, and perhaps already the alarm.
		if n := len(h.entries()); n < 3 || n > 4 {
			t.Errorf("%d entries, want 3 or 4", n)
		}
	})
}

// TestTwoDaemons: two sequencers on one ledger never fork it and both get their work in.
func TestTwoDaemons(t *testing.T) {
	onBoth(t, func(t *testing.T, h *house) {
		one := h.open(h.config("mark"))
		c := h.config("mark2")
		if _, err := sequencer.Open(t.Context(), c); !errors.Is(err, stops.NoMark) {
			t.Fatalf("a second daemon without a mark: %v", err)
		}
		c.AdoptHead = "a second daemon"
		two := h.open(c)
		const each = 60
		var wg sync.WaitGroup
		for i, l := range []*sequencer.Ledger{one, two} {
			for client := range 4 {
				wg.Go(func() {
					for n := range each {
						a, err := on(l).Append(context.Background(),
							propose(commit(fmt.Sprintf("t%d", client), uint64(i*100+n))))
						if err != nil {
							t.Error(err)
							continue
						}
						h.proved(a[0].Receipt)
					}
				})
			}
		}
		wg.Wait()
		// genesis, two instance_starts, the adoption alarm, and every commit.
		if n := len(h.entries()); n != 4+2*4*each {
			t.Errorf("%d entries, want %d", n, 4+2*4*each)
		}
	})
}

// TestRollback: a store that went backwards stops the signing at start, and
// while running; it resumes only when the store extends everything seen.
func TestRollback(t *testing.T) {
	onBoth(t, func(t *testing.T, h *house) {
		f := &faultyStore{Store: h.store}
		h.store = f
		l := h.open(h.config("mark"))
		h.must(l, propose(commit("t", 1)))
		old, err := h.store.Head(t.Context(), l.ID())
		must(t, err)
		h.must(l, propose(commit("t", 2)))

		// The head that another daemon would see after a restored backup.
		f.failHead(func(ledger.Head, error) (ledger.Head, error) { return old, nil })
		f.failAppend(func(func() error) error { return ledger.ErrStale })
		if _, err := on(l).Append(t.Context(), propose(commit("t", 3))); !errors.Is(err, ledger.ErrFrozen) {
			t.Fatalf("appending to a store that went back: %v", err)
		}
		if err := l.Ready(); !errors.Is(err, ledger.ErrFrozen) {
			t.Errorf("ready: %v", err)
		}
		if _, err := l.Receipt(t.Context(), 1); err != nil {
			t.Errorf("reads do not go on: %v", err)
		}
		h.copyMark("mark", "copy")
		behind := h.open(h.config("copy"))
		if _, err := on(behind).Append(t.Context(), propose(commit("u", 1))); !errors.Is(err, ledger.ErrFrozen) {
			t.Errorf("appending after a start below the mark: %v", err)
		}
		if _, err := behind.Receipt(t.Context(), 1); err != nil {
			t.Errorf("reads do not go on after a start below the mark: %v", err)
		}

		f.failHead(nil)
		f.failAppend(nil)
		waitReady(t, l)
		h.must(l, propose(commit("t", 3)))
		waitReady(t, behind)
		h.must(behind, propose(commit("u", 1)))
		if !slices.ContainsFunc(h.entries(), func(e audit.Entry) bool {
			ev, ok := e.Body.(*audit.Event)
			return ok && ev.Alarm == audit.AlarmSigningResumed
		}) {
			t.Error("the resumption is not in the ledger")
		}
	})
}

// waitReady waits until the ledger can be written again.
func waitReady(t *testing.T, l *sequencer.Ledger) {
	t.Helper()
	waitFor(t, func() bool { return l.Ready() == nil })
}

// TestReceiptsForEver: the receipt of an entry under the newest checkpoint, and
// the one it got first, byte for byte, at sizes around a tile's edge.
func TestReceiptsForEver(t *testing.T) {
	onBoth(t, func(t *testing.T, h *house) {
		l := h.open(h.config("mark"))
		first := make(map[uint64]string)
		for n := range uint64(300) {
			for _, a := range h.must(l, propose(commit("t", n))) {
				first[a.Index] = a.Receipt.Text()
			}
		}
		reopened := func() *sequencer.Ledger { l.Close(); return h.open(h.config("mark")) }
		for _, l := range []*sequencer.Ledger{l, reopened()} {
			for index, want := range first {
				text, err := l.Receipt(t.Context(), index)
				must(t, err)
				r, err := audit.ParseReceipt(text)
				must(t, err)
				h.proved(r)
				head, err := h.store.CheckpointAfter(t.Context(), l.ID(), index)
				must(t, err)
				if got, err := l.ReceiptUnder(t.Context(), ledger.Row{Index: index, Entry: r.Entry},
					head); err != nil || got != want {
					t.Fatalf("the first receipt of %d is not repeated (%v)", index, err)
				}
			}
		}
		if _, err := l.Receipt(t.Context(), 1<<40); !errors.Is(err, ledger.ErrNotFound) {
			t.Errorf("a receipt of nothing: %v", err)
		}
	})
}

// TestReaderBehind: a daemon that has not folded the newest entries still proves
// them under the head that covers them, from what the store holds.
func TestReaderBehind(t *testing.T) {
	onBoth(t, func(t *testing.T, h *house) {
		writer := h.open(h.config("mark"))
		c := h.config("mark2")
		c.AdoptHead = "a reader"
		behind := h.open(c)
		var newest ledger.Appended
		for n := range uint64(600) { // past two tiles of level 0 and into level 1
			newest = h.must(writer, propose(commit("t", n)))[0]
		}
		for _, index := range []uint64{2, 255, 256, 511, 512, newest.Index} {
			head, err := h.store.Head(t.Context(), writer.ID())
			must(t, err)
			for row, err := range h.store.Rows(t.Context(), writer.ID(), index, index+1) {
				must(t, err)
				text, err := behind.ReceiptUnder(t.Context(), row, head)
				if err != nil {
					t.Fatalf("entry %d: %v", index, err)
				}
				r, err := audit.ParseReceipt(text)
				must(t, err)
				h.proved(r)
			}
		}
	})
}

func TestClosedLedgerRefuses(t *testing.T) {
	onBoth(t, func(t *testing.T, h *house) {
		l := h.open(h.config("mark"))
		must(t, l.Close())
		if _, err := on(l).Append(t.Context(), propose(commit("t", 1))); !errors.Is(err, ledger.ErrClosed) {
			t.Errorf("appending to a closed ledger: %v", err)
		}
	})
}

func TestClockStepRefuses(t *testing.T) {
	onBoth(t, func(t *testing.T, h *house) {
		var mu sync.Mutex
		start, step := time.Now(), time.Duration(0)
		c := h.config("mark")
		c.Clock = func() (time.Time, time.Duration) {
			mu.Lock()
			defer mu.Unlock()
			now := time.Now() // once, so that the two clocks agree
			return now.Add(step), now.Sub(start)
		}
		l := h.open(c)
		set := func(d time.Duration) { mu.Lock(); step = d; mu.Unlock() }
		h.must(l, propose(commit("t", 1)))
		set(time.Hour)
		if _, err := on(l).Append(t.Context(), propose(commit("t", 2))); !errors.Is(err, ledger.ErrClock) {
			t.Errorf("the clock stepped an hour: %v", err)
		}
		set(0)
		waitReady(t, l)
		h.must(l, propose(commit("t", 2)))
		if reason := h.awaitAlarm(audit.AlarmClockStep); !strings.Contains(reason, "stepped by 1h0m0s") {
			t.Errorf("the alarm says %q", reason)
		}
	})
}

// awaitAlarm waits for an alarm among the entries and returns its reason.
func (h *house) awaitAlarm(kind audit.Alarm) (reason string) {
	h.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for range 3000 {
		for _, e := range h.entries() {
			if b, ok := e.Body.(*audit.Event); ok && b.Kind == audit.EventAlarm && b.Alarm == kind {
				return b.Reason
			}
		}
		<-tick.C
	}
	h.t.Fatalf("no alarm %s", kind)
	return ""
}

// TestOneKeyTwiceInABatch: two requests with one key that wait together. The
// second is told that the key is taken; neither is lost, and neither blocks.
func TestOneKeyTwiceInABatch(t *testing.T) {
	onBoth(t, func(t *testing.T, h *house) {
		f := &faultyStore{Store: h.store}
		h.store = f
		l := h.open(h.config("mark"))
		entered, release := make(chan struct{}), make(chan struct{})
		f.failAppend(func(real func() error) error {
			close(entered)
			<-release
			return real()
		})
		errs := make(chan error, 3)
		appendTo := func(n uint64) {
			_, err := on(l).Append(context.Background(), propose(commit("t", n)))
			errs <- err
		}
		go appendTo(1)
		<-entered // the sequencer is busy: what comes now waits for one batch
		go appendTo(2)
		go appendTo(2)
		waitFor(t, func() bool { return l.QueueLen() == 2 })
		close(release)
		duplicates := 0
		for range 3 {
			err := <-errs
			var duplicate *ledger.DuplicateError
			if errors.As(err, &duplicate) {
				duplicates++
			} else if err != nil {
				t.Error(err)
			}
		}
		if n := len(h.entries()); n != 4 || duplicates != 1 {
			t.Errorf("%d entries, %d duplicates; want 4 and 1", n, duplicates)
		}
		if n := l.Live().Appends.Duplicate; n != 1 {
			t.Errorf("the store refused %d batches for the key, want 1", n)
		}
	})
}

// TestForgedHead: a stored head that is not what its own entries and our key say TestRefusedInOrder: proposals that go
// together are judged in their order, also when the store refuses one between them for its key.
func TestRefusedInOrder(t *testing.T) {
	onBoth(t, func(t *testing.T, h *house) {
		l := h.open(h.config("mark"))
		id := h.must(l, propose(commit("t", 1)))[0].Receipt.Index
		over := &audit.Close{Shuffle: id, Outcome: audit.OutcomeCompleted, Form: audit.FormTape, Tape: tape()}
		deal := &audit.Deal{Shuffle: id, Runs: []audit.Run{{Count: 1, Purpose: audit.PurposeBoard, Public: true}}}
		again := on(l).of(propose(commit("t", 1)))
		answers := l.AppendAll(t.Context(), []ledger.Proposal{propose(over), again, propose(deal)})
		var duplicate *ledger.DuplicateError
		var illegal *audit.Illegal
		if answers[0].Err != nil || !errors.As(answers[1].Err, &duplicate) || !errors.As(answers[2].Err, &illegal) ||
			illegal.Code != audit.RuleNotOpen {
			t.Errorf("a close, a used key and a deal are answered %v, %v and %v", answers[0].Err, answers[1].Err,
				answers[2].Err)
		}
	})
}

// TestOneKeyTwiceInAProposal: it is refused, and what comes after it is not.
func TestOneKeyTwiceInAProposal(t *testing.T) {
	onBoth(t, func(t *testing.T, h *house) {
		l := h.open(h.config("mark"))
		twice := commits("t", 0, 2)
		twice[1].(*audit.Commit).KeyTag = twice[0].(*audit.Commit).KeyTag
		if _, err := on(l).Append(t.Context(), propose(twice...)); err == nil {
			t.Error("two commits under one key tag were written")
		}
		h.must(l, propose(commits("t", 0, 2)...))
	})
}

// is never extended.
func TestForgedHead(t *testing.T) {
	onBoth(t, func(t *testing.T, h *house) {
		l := h.open(h.config("mark"))
		h.must(l, propose(commit("t", 1)))
		l.Close()
		stored, err := h.store.Head(t.Context(), l.ID())
		must(t, err)
		other := newHouse(t, openSQLite(t)) // another key under the same origin
		signed := func(signer *house, size uint64, root [32]byte) []byte {
			head, err := ledger.SignHead(size, root, signer.signer)
			must(t, err)
			return head.Checkpoint
		}
		for name, forge := range map[string]func(ledger.Head) ledger.Head{
			"another root":     func(s ledger.Head) ledger.Head { s.Root[0] ^= 1; return s },
			"a longer ledger":  func(s ledger.Head) ledger.Head { s.Size++; return s },
			"a shorter ledger": func(s ledger.Head) ledger.Head { s.Size--; return s },
			"no checkpoint":    func(s ledger.Head) ledger.Head { s.Checkpoint = nil; return s },
			"another key": func(s ledger.Head) ledger.Head {
				s.Checkpoint = signed(other, s.Size, s.Root)
				return s
			},
			"a checkpoint of less": func(s ledger.Head) ledger.Head {
				s.Checkpoint = signed(h, s.Size-1, s.Root)
				return s
			},
			"a checkpoint of other": func(s ledger.Head) ledger.Head {
				s.Checkpoint = signed(h, s.Size, [32]byte{1})
				return s
			},
		} {
			f := &faultyStore{Store: h.store}
			f.failHead(func(ledger.Head, error) (ledger.Head, error) { return forge(stored), nil })
			c := h.config("mark")
			c.Store = f
			if l, err := sequencer.Open(t.Context(), c); err == nil {
				l.Close()
				t.Errorf("%s: the ledger was opened", name)
			}
		}
		h.open(h.config("mark"))
	})
}

// waitFor waits until a condition that other goroutines bring about holds.
func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for tick := time.NewTicker(time.Millisecond); !done(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatal("it did not come")
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
