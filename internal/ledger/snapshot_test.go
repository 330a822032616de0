package ledger_test

import (
	"bytes"
	"context"
	"crypto/ecdh"
	crand "crypto/rand"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
)

// snapshotEvery is the distance of snapshots in these tests, the least there may be.
const snapshotEvery = 2048

// dense configures a daemon that logs many snapshots.
func dense(c ledger.Config) ledger.Config {
	c.SnapshotEvery = snapshotEvery
	return c
}

// events returns the indexes of the snapshot events.
func (h *house) events() (indexes []uint64) {
	for i, e := range h.entries() {
		if b, ok := e.Body.(*audit.Event); ok && b.Kind == audit.EventSnapshot {
			indexes = append(indexes, uint64(i))
		}
	}
	return indexes
}

// kept returns the stored snapshots, newest first.
func (h *house) kept() (list []ledger.Snapshot) {
	h.t.Helper()
	for below := uint64(audit.MaxInteger); ; {
		s, err := h.store.SnapshotBelow(h.t.Context(), ledger.IDOf(origin), below)
		if errors.Is(err, ledger.ErrNotFound) {
			return list
		}
		if err != nil {
			h.t.Fatal(err)
		}
		list, below = append(list, s), s.Index
	}
}

// grow appends commits up to a size, and waits for the snapshots that are due.
func (h *house) grow(l *ledger.Ledger, size uint64) {
	h.t.Helper()
	for l.Head().Size < size {
		n := min(300, size-l.Head().Size)
		h.must(l, propose(commits(fmt.Sprint("t", l.Head().Size%7), l.Head().Size, n)...))
	}
	h.settled(l)
}

func (h *house) settled(l *ledger.Ledger) {
	h.t.Helper()
	waitFor(h.t, func() bool {
		newest, err := h.store.SnapshotBelow(h.t.Context(), l.ID(), audit.MaxInteger)
		return err == nil && newest.Index >= l.Head().Size-l.Head().Size%snapshotEvery
	})
}

// TestSnapshotsAreLogged: one for each multiple, by whichever of two daemons, of the
// state that a fold gives.
func TestSnapshotsAreLogged(t *testing.T) {
	onBoth(t, func(t *testing.T, h *house) {
		one := h.open(dense(h.config("mark")))
		h.copyMark("mark", "two")
		two := h.open(dense(h.config("two")))
		var wg sync.WaitGroup
		for i, l := range []*ledger.Ledger{one, two} {
			wg.Go(func() {
				for n := range 20 {
					if _, err := l.Append(t.Context(), propose(commits(fmt.Sprint("of-", i), uint64(1000*n), 200)...)); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		h.settled(one)
		waitFor(t, func() bool { return len(h.kept()) == 3 })
		state, kept := audit.NewState(), h.kept()
		for i, e := range h.entries() {
			for _, s := range kept {
				if s.Index == uint64(i) && !bytes.Equal(s.State, state.Encode()) {
					t.Errorf("the snapshot of entry %d is of another state", i)
				}
			}
			if err := state.Apply(e); err != nil {
				t.Fatal(err)
			}
			state.Commit()
		}
		events := h.events()
		if len(events) != 3 {
			t.Errorf("%d events", len(events))
		}
		for n, index := range events {
			if multiple := uint64(n+1) * snapshotEvery; index < multiple || index >= multiple+snapshotEvery {
				t.Errorf("snapshot %d stands at %d", n, index)
			}
		}
	})
}

// cutStore is a store as it was when its head had a size, with snapshots or without.
type cutStore struct {
	ledger.Store
	head ledger.Head
	bare bool
}

func (c cutStore) Head(context.Context, ledger.ID) (ledger.Head, error) { return c.head, nil }

func (c cutStore) SnapshotBelow(ctx context.Context, id ledger.ID, below uint64) (ledger.Snapshot, error) {
	if c.bare {
		return ledger.Snapshot{}, ledger.ErrNotFound
	}
	return c.Store.SnapshotBelow(ctx, id, below)
}

// TestRestoredIsFolded: whatever a ledger holds and wherever it ends, what a daemon
// knows from a snapshot and the tail is what it knows from all entries: state,
// keys and their history, policies and when they governed, right edge.
func TestRestoredIsFolded(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 1))
			w, next := rotatable(t, openSQLite(t), audit.DealsSigned, 0)
			l := w.open(dense(w.holding("mark", w.signer, next)))
			w.play(r, l, next, 8000)
			l.Close()
			restored := 0
			for range 16 {
				head, err := w.store.CheckpointAfter(t.Context(), l.ID(), r.Uint64N(l.Head().Size))
				if err != nil {
					t.Fatal(err)
				}
				var known [2]*ledger.Memory
				for i, bare := range []bool{true, false} {
					c := dense(w.holding("mark", w.signer, next))
					c.Store = cutStore{w.store, head, bare}
					if known[i], err = ledger.Remember(t.Context(), c); err != nil {
						t.Fatalf("at size %d: %v", head.Size, err)
					}
				}
				if known[0].From != 0 {
					t.Fatal("the fold did not begin at entry 0")
				}
				if known[1].From > 0 {
					restored++
				}
				if head.Size > 3*snapshotEvery && uint64(known[1].From)+2*snapshotEvery < head.Size {
					t.Errorf("at size %d the fold began at %d", head.Size, known[1].From)
				}
				if !bytes.Equal(known[0].State, known[1].State) {
					t.Errorf("at size %d the states differ", head.Size)
				}
				for _, m := range known {
					m.State, m.From, m.Missing = nil, 0, nil // which takes cmp too long
				}
				if diff := cmp.Diff(known[0], known[1]); diff != "" {
					t.Errorf("at size %d:\n%.3000s", head.Size, diff)
				}
			}
			if restored < 8 {
				t.Errorf("only %d of 16 began at a snapshot", restored)
			}
		})
	}
}

// play writes about n entries of all kinds that change a state, in any order.
func (w *witnessed) play(r *rand.Rand, l *ledger.Ledger, next signingKey, n uint64) {
	w.t.Helper()
	var open []uint64
	serial, rotated, auditors := uint64(0), false, 0
	policies := []*quorum{newQuorum(w.t, w.vkey, next.vkey), newQuorum(w.t, w.vkey, next.vkey)}
	old, err := audit.SigningKey(w.vkey)
	if err != nil {
		w.t.Fatal(err)
	}
	for last := uint64(0); l.Head().Size < n; {
		switch r.IntN(14) {
		case 0, 1, 2:
			count := 1 + r.Uint64N(500)
			for _, a := range w.must(l, propose(commits(fmt.Sprint("table-", r.IntN(9)), serial, count)...)) {
				open = append(open, a.Index)
			}
			serial += count
		case 3, 4, 5, 6:
			var bodies []audit.Body
			for range min(r.IntN(60), len(open)) { // oldest first, as turns are
				body := audit.Body(oneCard(open[0]))
				if r.IntN(2) == 0 {
					body = &audit.Close{Shuffle: open[0], Outcome: audit.OutcomeEndedEarly, Form: audit.FormTape, Tape: tape()}
				}
				bodies, open = append(bodies, body), open[1:]
			}
			if len(bodies) > 0 {
				w.must(l, propose(bodies...))
			}
		case 7:
			name := fmt.Sprint("spare-", r.IntN(1000))
			l.Append(w.t.Context(), propose(&audit.Event{Kind: audit.EventTableOpen, Name: name})) // or it is open
			l.Append(w.t.Context(), propose(&audit.Event{Kind: audit.EventTableClose, Name: name}))
			l.Append(w.t.Context(), propose(&audit.Event{Kind: audit.EventKillSet, Scope: audit.ScopeTable, Name: name, Reason: "test"}))
		case 8:
			if auditors < 30 {
				auditors++
				w.must(l, propose(&audit.Key{Subject: audit.SubjectAuditor, Public: pointKey(w.t)}))
			}
		case 9:
			k := pointKey(w.t)
			w.must(l, propose(&audit.Key{Subject: audit.SubjectAuditor, Public: k}))
			if auditors > 0 {
				w.must(l, propose(&audit.Key{Subject: audit.SubjectRetirement, Retired: audit.SubjectAuditor, ID: audit.KeyID(k), From: 5}))
			}
			auditors++
		case 10:
			if len(policies) > 0 && l.Head().Size-last > 1500 {
				last = l.Head().Size
				index := w.addPolicy(l, policies[0])
				policies = policies[1:]
				if r.IntN(2) == 0 {
					w.awaitCosigned(l, index)
				}
			}
		case 11:
			if !rotated && l.Head().Size > 2000 {
				rotated = true
				w.rotate(l, next)
				w.must(l, propose(&audit.Key{Subject: audit.SubjectRetirement, Retired: audit.SubjectSigning, ID: audit.KeyID(old), From: 7}))
			}
		default:
			if len(open) > 0 { // out of turn, which is allowed to a close
				i := r.IntN(len(open))
				w.must(l, propose(&audit.Close{Shuffle: open[i], Outcome: audit.OutcomeVoid, Reason: audit.ReasonMisdeal, Form: audit.FormTape, Tape: tape()}))
				open = append(open[:i:i], open[i+1:]...)
			}
		}
	}
	w.settled(l)
}

// pointKey returns a key as auditors have it.
func pointKey(t *testing.T) []byte {
	t.Helper()
	k, err := ecdh.P256().GenerateKey(crand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return append([]byte{1}, k.PublicKey().Bytes()...)
}

// countedStore counts what a start reads.
type countedStore struct {
	ledger.Store
	bare                    bool
	rows, tiles, statements int
}

func (c *countedStore) Rows(ctx context.Context, id ledger.ID, from, to uint64) iter.Seq2[ledger.Row, error] {
	return func(yield func(ledger.Row, error) bool) {
		c.statements++
		for row, err := range c.Store.Rows(ctx, id, from, to) {
			if c.rows++; !yield(row, err) {
				return
			}
		}
	}
}

func (c *countedStore) Tile(ctx context.Context, id ledger.ID, level int, index uint64) ([]byte, error) {
	c.tiles++
	return c.Store.Tile(ctx, id, level, index)
}

func (c *countedStore) SnapshotBelow(ctx context.Context, id ledger.ID, below uint64) (ledger.Snapshot, error) {
	c.statements++
	if c.bare {
		return ledger.Snapshot{}, ledger.ErrNotFound
	}
	return c.Store.SnapshotBelow(ctx, id, below)
}

// TestStartReadsTheTail: what a start reads does not grow with the ledger: the
// entries above the newest snapshot, the bundle at the end that is not full, and the tiles
// below the right edge.
func TestStartReadsTheTail(t *testing.T) {
	onBoth(t, func(t *testing.T, h *house) {
		l := h.open(dense(h.config("mark")))
		var sizes []uint64
		for _, size := range []uint64{1, 4} {
			h.grow(l, size*snapshotEvery+500)
			l.Close()
			counted := &countedStore{Store: h.store}
			c := dense(h.config("mark"))
			c.Store = counted
			m, err := ledger.Remember(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			newest := h.kept()[0].Index
			tail := int(uint64(m.Size) - newest)
			t.Logf("of %d entries %d were read, %d tiles", m.Size, counted.rows, counted.tiles)
			if uint64(m.From) != newest || counted.rows > tail+2+255 || counted.tiles > int(m.Size/256+8) || counted.statements > 8 {
				t.Errorf("a start with %d entries above the snapshot at %d reads %d of %d entries and %d tiles with %d statements, from %d",
					tail, newest, counted.rows, m.Size, counted.tiles, counted.statements, m.From)
			}
			sizes = append(sizes, uint64(counted.rows))
			l = h.open(dense(h.config("mark")))
			// What was not folded is proved, not taken for known.
			for row, err := range h.store.Rows(t.Context(), l.ID(), newest-3, newest+3) {
				if err == nil {
					err = l.Authentic(t.Context(), []ledger.Row{row})
				}
				if err != nil {
					t.Errorf("entry %d after the start: %v", row.Index, err)
				}
				row.Entry = append(bytes.Clone(row.Entry), 0)
				if err := l.Authentic(t.Context(), []ledger.Row{row}); !errors.Is(err, ledger.ErrFrozen) {
					t.Errorf("other bytes at %d after the start: %v", row.Index, err)
				}
			}
		}
		if sizes[1] > sizes[0]+1000 {
			t.Errorf("four times the ledger, and %d rows instead of %d", sizes[1], sizes[0])
		}
	})
}
