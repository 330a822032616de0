package sequencer_test

import (
	"bytes"
	"context"
	"crypto/ecdh"
	crand "crypto/rand"
	"encoding/gob"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
	"shuffled/internal/ledger/sequencer"
)

// cacheEvery is the distance of caches in these tests.
const cacheEvery = 2048

// dense configures a daemon that writes its cache often.
func dense(c ledger.Config) ledger.Config {
	c.CacheEvery = cacheEvery
	return c
}

// cacheSize returns the size that the cache alongside a mark names, 0 without one.
func (h *house) cacheSize(mark string) uint64 {
	b, err := os.ReadFile(h.mark(mark) + ".cache")
	if err != nil {
		return 0
	}
	var header sequencer.CacheHeader
	if err := gob.NewDecoder(bytes.NewReader(b)).Decode(&header); err != nil {
		h.t.Error(err)
	}
	return header.Size
}

// grow appends commits up to a size, and waits for the cache that is due.
func (h *house) grow(l *sequencer.Ledger, mark string, size uint64) {
	h.t.Helper()
	for l.Head().Size < size {
		n := min(300, size-l.Head().Size)
		h.must(l, propose(commits(fmt.Sprint("t", l.Head().Size%7), l.Head().Size, n)...))
	}
	waitFor(h.t, func() bool {
		live := l.Live()
		return h.cacheSize(mark)+max(cacheEvery, uint64(live.Open/2)) > live.Size
	})
}

// remember is what a daemon knows when it has started, with the cache alongside the mark, or without any.
func (h *house) remember(c ledger.Config) *sequencer.Known {
	h.t.Helper()
	m, err := sequencer.Remember(h.t.Context(), c)
	if err != nil {
		h.t.Fatal(err)
	}
	return m
}

// same fails unless two starts know the same, wherever they began.
func same(t *testing.T, what string, folded, restored *sequencer.Known) {
	t.Helper()
	if !bytes.Equal(folded.State, restored.State) {
		t.Errorf("%s: the states differ", what)
	}
	a, b := *folded, *restored
	a.State, a.From, b.State, b.From = nil, 0, nil, 0 // the state takes cmp too long
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("%s:\n%.3000s", what, diff)
	}
}

// TestRestoredIsFolded: whatever a ledger holds and wherever it ends, what a daemon knows from its cache and the tail
// is what it knows from all entries: state, keys and their history, policies and when they governed, right edge.
func TestRestoredIsFolded(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 1))
			w, next := rotatable(t, openSQLite(t), audit.DealsSigned, 0)
			restored := 0
			config := func(mark string) ledger.Config { return dense(w.holding(mark, w.signer, next)) }
			story := &played{witnessed: w, r: r, next: next}
			for n := range uint64(8) {
				l := w.open(config("mark"))
				story.to(l, 1000*(n+1))
				l.Close()
				whole, tail := w.remember(config("no mark")), w.remember(config("mark"))
				if whole.From != 0 {
					t.Fatal("the fold did not begin at entry 0")
				}
				if tail.From > 0 {
					restored++
				}
				same(t, fmt.Sprint("at size ", whole.Size), whole, tail)
			}
			if restored < 3 {
				t.Errorf("only %d of 8 began at a cache", restored)
			}
		})
	}
}

// played is a ledger with entries of all kinds that change a state, in any order.
type played struct {
	*witnessed
	r        *rand.Rand
	next     signingKey
	shuffles []uint64 // open ones
	serial   uint64
	rotated  bool
	auditors int
	last     uint64    // size at the last policy
	policies []*quorum // nil: not made yet
}

// to plays up to about n entries.
func (w *played) to(l *sequencer.Ledger, n uint64) {
	w.t.Helper()
	r := w.r
	if w.policies == nil {
		w.policies = []*quorum{newQuorum(w.t, w.vkey, w.next.vkey), newQuorum(w.t, w.vkey, w.next.vkey)}
	}
	old, err := audit.SigningKey(w.vkey)
	if err != nil {
		w.t.Fatal(err)
	}
	for l.Head().Size < n {
		switch r.IntN(14) {
		case 0, 1, 2:
			count := 1 + r.Uint64N(500)
			for _, a := range w.must(l, propose(commits(fmt.Sprint("table-", r.IntN(9)), w.serial, count)...)) {
				w.shuffles = append(w.shuffles, a.Index)
			}
			w.serial += count
		case 3, 4, 5, 6:
			var bodies []audit.Body
			for range min(r.IntN(60), len(w.shuffles)) { // oldest first, as turns are
				body := audit.Body(oneCard(w.shuffles[0]))
				if r.IntN(2) == 0 {
					body = &audit.Close{Shuffle: w.shuffles[0], Outcome: audit.OutcomeEndedEarly, Form: audit.FormTape,
						Tape: tape()}
				}
				bodies, w.shuffles = append(bodies, body), w.shuffles[1:]
			}
			if len(bodies) > 0 {
				w.must(l, propose(bodies...))
			}
		case 7:
			name := fmt.Sprint("spare-", r.IntN(1000))
			on(l).Append(w.t.Context(), propose(&audit.Event{Kind: audit.EventTableOpen, Name: name})) // or it is open
			on(l).Append(w.t.Context(), propose(&audit.Event{Kind: audit.EventTableClose, Name: name}))
			on(l).Append(w.t.Context(), propose(&audit.Event{Kind: audit.EventKillSet, Scope: audit.ScopeTable,
				Name:   name,
				Reason: "test"}))
		case 8:
			if w.auditors < 30 {
				w.auditors++
				w.must(l, propose(&audit.Key{Subject: audit.SubjectAuditor, Public: pointKey(w.t)}))
			}
		case 9:
			k := pointKey(w.t)
			w.must(l, propose(&audit.Key{Subject: audit.SubjectAuditor, Public: k}))
			if w.auditors > 0 {
				w.must(l, propose(&audit.Key{Subject: audit.SubjectRetirement, Retired: audit.SubjectAuditor,
					ID: audit.KeyID(k), From: 5}))
			}
			w.auditors++
		case 10:
			if len(w.policies) > 0 && l.Head().Size-w.last > 1500 {
				w.last = l.Head().Size
				index := w.addPolicy(l, w.policies[0])
				w.policies = w.policies[1:]
				if r.IntN(2) == 0 {
					w.awaitCosigned(l, index)
				}
			}
		case 11:
			if !w.rotated && l.Head().Size > 2000 {
				w.rotated = true
				w.rotate(l, w.next)
				w.must(l, propose(&audit.Key{Subject: audit.SubjectRetirement, Retired: audit.SubjectSigning,
					ID: audit.KeyID(old), From: 7}))
			}
		default:
			if len(w.shuffles) > 0 { // out of turn, which is allowed to a close
				i := r.IntN(len(w.shuffles))
				w.must(l, propose(&audit.Close{Shuffle: w.shuffles[i], Outcome: audit.OutcomeVoid,
					Reason: audit.ReasonMisdeal, Form: audit.FormTape, Tape: tape()}))
				w.shuffles = append(w.shuffles[:i:i], w.shuffles[i+1:]...)
			}
		}
	}
}

// pointKey returns a key as auditors have it.
func pointKey(t *testing.T) []byte {
	t.Helper()
	k, err := ecdh.P256().GenerateKey(crand.Reader)
	must(t, err)
	return append([]byte{1}, k.PublicKey().Bytes()...)
}

// countedStore counts what a start reads.
type countedStore struct {
	ledger.Store
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

// TestStartReadsTheTail: what a start reads does not grow with the ledger: the entries above the cache, the bundle at
// the end that is not full, and the tiles below the right edge.
func TestStartReadsTheTail(t *testing.T) {
	onBoth(t, func(t *testing.T, h *house) {
		l := h.open(dense(h.config("mark")))
		for _, size := range []uint64{1, 4} {
			for n := uint64(1); n <= size; n++ {
				a := h.must(l, propose(commits("closed", 100_000*size+1000*n, 200)...))
				var closes []audit.Body
				for _, one := range a {
					closes = append(closes,
						&audit.Close{Shuffle: one.Index, Outcome: audit.OutcomeEndedEarly, Form: audit.FormTape,
							Tape: tape()})
				}
				h.must(l, propose(closes...))
			}
			h.grow(l, "mark", size*cacheEvery+500)
			l.Close()
			counted := &countedStore{Store: h.store}
			c := dense(h.config("mark"))
			c.Store = counted
			m, from := h.remember(c), h.cacheSize("mark")
			tail := int(uint64(m.Size) - from)
			t.Logf("of %d entries %d were read, %d tiles", m.Size, counted.rows, counted.tiles)
			if uint64(m.From) != from || counted.rows > tail+2+255 || counted.tiles > int(m.Size/256+8) ||
				counted.statements > 8 {
				t.Errorf("a start with %d entries above the cache of %d reads %d of %d entries and %d tiles with %d statements, from %d",
					tail, from, counted.rows, m.Size, counted.tiles, counted.statements, m.From)
			}
			l = h.open(dense(h.config("mark")))
			// What was not folded is proved, not taken for known.
			for row, err := range h.store.Rows(t.Context(), l.ID(), from-3, from+3) {
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
	})
}
