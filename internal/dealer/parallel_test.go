package dealer_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/dealer"
	"shuffled/internal/dealer/api"
	"shuffled/internal/entropy"
)

var copiedKeys = flag.Int("copied.keys", 60, "how many requests TestCopies sends in 100 copies each, on each store")

// TestCopies sends 100 copies of a request together, to two daemons, for many keys. Each key is one commit, every copy
// gets the same answer, and no tape is drawn for a key that is in the ledger.
func TestCopies(t *testing.T) {
	t.Parallel()
	for _, inPostgres := range []bool{false, true} {
		t.Run(map[bool]string{false: "sqlite", true: "postgres"}[inPostgres], func(t *testing.T) {
			t.Parallel()
			keys, copies := *copiedKeys, 100
			if testing.Short() {
				keys, copies = 20, 20
			}
			source, err := entropy.New(entropy.Config{})
			must(t, err)
			tb := newTableWith(t, setting{source: source, postgres: inPostgres})
			daemons := []*table{tb, tb.rival(tb.cfg.Store)}
			drawn := source.Stats().Tapes
			answers := make([]api.Shuffle, keys)
			send := func(n int) {
				key := fmt.Sprint("key-", n)
				req := api.ShuffleRequest{Table: fmt.Sprint("t", n%7), Deck: "standard-52", GameRef: key}
				all := make([]api.Shuffle, copies)
				var wg sync.WaitGroup
				for i := range copies {
					wg.Go(func() {
						var err error
						if all[i], err = daemons[i%2].Shuffle(context.Background(), as("tester"), key,
							req); err != nil {
							t.Error(err)
						}
					})
				}
				wg.Wait()
				for _, s := range all {
					if diff := cmp.Diff(all[0], s, sameAnswer); diff != "" {
						t.Fatalf("%s: copies get different answers: %s", key, diff)
					}
				}
				if answers[n].ID != 0 && !cmp.Equal(answers[n], all[0], sameAnswer) {
					t.Errorf("%s is answered otherwise later", key)
				}
				answers[n] = all[0]
			}
			everyKey(keys, send)
			once := source.Stats().Tapes - drawn
			// Copies at one daemon wait for each other; those of two may race.
			if once < uint64(keys) || once > 2*uint64(keys) {
				t.Errorf("%d tapes for %d commits", once, keys)
			}
			copies = min(copies, 4)
			everyKey(keys, send)
			if again := source.Stats().Tapes - drawn; again != once {
				t.Errorf("%d tapes were drawn for keys that are in the ledger", again-once)
			}
			t.Logf("%d commits, %d tapes drawn", keys, once)
			tb.checkCommits(answers)
		})
	}
}

// everyKey calls send for 0 … n−1, four at a time.
func everyKey(n int, send func(int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				send(i)
			}
		})
	}
	wg.Wait()
}

// checkCommits: the ledger holds these commits and no others, and each table's serials count by one, back to the first.
func (tb *table) checkCommits(answers []api.Shuffle) {
	tb.t.Helper()
	entries := tb.entries()
	commits := 0
	last, serials := make(map[string]uint64), make(map[string]uint64)
	for i, e := range entries {
		if c, ok := e.Body.(*audit.Commit); ok {
			commits++
			if c.Serial != serials[c.Context.Table]+1 || c.Previous != last[c.Context.Table] {
				tb.t.Errorf("entry %d is serial %d after entry %d", i, c.Serial, c.Previous)
			}
			serials[c.Context.Table], last[c.Context.Table] = c.Serial, uint64(i)
		}
	}
	if commits != len(answers) {
		tb.t.Errorf("%d commits for %d keys", commits, len(answers))
	}
	for _, s := range answers {
		if c, ok := entries[s.ID].Body.(*audit.Commit); !ok || c.Serial != s.Serial || c.Commitment != s.Commitment ||
			c.DeckRoot != s.DeckRoot {
			tb.t.Errorf("the answer %+v is not entry %d", s, s.ID)
		}
	}
}

// TestRaces deals, closes, voids, expires and continues one shuffle from many goroutines and two daemons. Exactly one
// end stands, the deals have no gap, and anyone who was answered finds in the ledger what the answer says.
func TestRaces(t *testing.T) {
	onEachStore(t, setting{}, func(t *testing.T, tb *table) {
		daemons := []*table{tb, tb.rival(tb.cfg.Store)}
		outcomes := make(map[audit.Outcome]int)
		for n := 0; n < 20 || n < 400 && len(outcomes) < 4; n++ { // until each end was first once
			s := tb.commit(fmt.Sprint(n), deckOf(audit.DisclosurePublic))
			outcomes[tb.race(daemons, s.ID, n)]++
		}
		t.Log(outcomes)
		if len(outcomes) < 4 {
			t.Errorf("void: the races end with %v only", outcomes)
		}
		if r := tb.inspected(nil); r.FaultCount > 0 {
			t.Errorf("the audit finds %+v", r.Faults)
		}
	})
}

// race lets everybody at one shuffle and returns its outcome.
func (tb *table) race(daemons []*table, id uint64, n int) audit.Outcome {
	t := tb.t
	t.Helper()
	ctx := context.Background()
	var mu sync.Mutex
	var deals []api.Deal
	var ends []audit.Outcome // that were answered, each once
	refused := func(err error) {
		var illegal *audit.Illegal
		if !errors.As(err, &illegal) && !errors.Is(err, api.ErrRepeated) {
			t.Errorf("race %d: %v", n, err)
		}
	}
	ended := func(o audit.Outcome, err error) {
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			refused(err)
			return
		}
		ends = append(ends, o)
	}
	var turn atomic.Int64 // places dealt, after which the others begin
	wait := make(chan struct{})
	start := sync.OnceFunc(func() { close(wait) })
	after := int64(rand.IntN(6))
	var wg sync.WaitGroup
	for i, d := range append(daemons, daemons...) {
		wg.Go(func() {
			defer start()
			for first := 0; first < 16; first++ {
				if turn.Load() >= after {
					start()
				}
				answer, err := d.Deal(ctx, as("tester"), id,
					api.DealRequest{First: first, Runs: []audit.Run{seat(1, fmt.Sprint("rival-", i))}})
				turn.Add(1)
				if err != nil {
					refused(err)
					continue
				}
				mu.Lock()
				deals = append(deals, answer)
				mu.Unlock()
			}
		})
	}
	begin := func(f func()) { wg.Go(func() { <-wait; f() }) }
	closers := []func(d *table){
		func(d *table) {
			_, err := d.Close(ctx, as("tester"), id, api.CloseRequest{Outcome: audit.OutcomeCompleted})
			ended(audit.OutcomeCompleted, err)
		},
		func(d *table) {
			_, err := d.Close(ctx, as("tester"), id,
				api.CloseRequest{Outcome: audit.OutcomeVoid, Reason: audit.ReasonMisdeal})
			ended(audit.OutcomeVoid, err)
		},
		func(d *table) {
			_, err := d.Shuffle(ctx, as("tester"), fmt.Sprint("child-", n), child(id, 0, 1))
			ended(audit.OutcomeContinued, err)
		},
	}
	if n%4 == 0 {
		closers[0] = func(d *table) {
			tb.pass(time.Hour + time.Second)
			if _, err := d.Expire(ctx); err != nil { // also others, of races before
				t.Error(err)
			}
		}
	}
	if n%4 == 1 { // a child reads its parent behind the barrier, and so is rarely first
		closers = closers[2:]
	}
	for i, j := range rand.Perm(len(closers)) {
		begin(func() { closers[j](daemons[i%2]) })
	}
	wg.Wait()
	return tb.settled(id, deals, ends)
}

// settled holds what was answered about a shuffle against the ledger, and ends it if nobody did.
func (tb *table) settled(id uint64, deals []api.Deal, ends []audit.Outcome) audit.Outcome {
	t := tb.t
	t.Helper()
	if len(ends) == 0 {
		tb.pass(time.Hour + time.Second)
	}
	if _, err := tb.Expire(t.Context()); err != nil { // also children of races before
		t.Error(err)
	}
	given := make(map[int]string)
	next := 0
	var stands []audit.Outcome
	for _, e := range tb.entries() {
		switch b := e.Body.(type) {
		case *audit.Deal:
			if b.Shuffle != id {
				continue
			}
			if b.First != next || len(stands) > 0 {
				t.Errorf("shuffle %d: a deal from place %d, the next is %d, ended as %v", id, b.First, next, stands)
			}
			given[b.First] = b.Runs[0].Recipient
			next = b.First + b.Count()
		case *audit.Close:
			if b.Shuffle == id {
				stands = append(stands, b.Outcome)
			}
		}
	}
	if len(stands) != 1 || len(ends) > 1 || len(ends) == 1 && ends[0] != stands[0] || len(ends) == 0 &&
		stands[0] != audit.OutcomeExpired {
		t.Fatalf("shuffle %d ended as %v, answered was %v", id, stands, ends)
	}
	if len(deals) != len(given) {
		t.Errorf("shuffle %d: %d deals stand, %d were answered", id, len(given), len(deals))
	}
	tr := tb.transcript(id, api.View{Identity: "tester"}) // its child may be open
	for _, d := range deals {
		if i := slices.IndexFunc(tr.Cards, func(c openings.Card) bool { return c.Place == d.Cards[0].Place }); i < 0 ||
			!cmp.Equal(tr.Cards[i], d.Cards[0]) {
			t.Errorf("shuffle %d: the transcript has another card at place %d than was dealt", id, d.Cards[0].Place)
		}
	}
	return stands[0]
}

// TestOutage: shuffles become overdue while no daemon runs. The daemons that come
// back close each of them once, whichever comes first, and nothing twice.
func TestOutage(t *testing.T) {
	onEachStore(t, setting{}, func(t *testing.T, tb *table) {
		n := 120
		for i := range n {
			req := deckOf(audit.DisclosurePublic)
			req.Table = fmt.Sprint("t", i%5)
			s := tb.commit(fmt.Sprint(i), req)
			if i < 5 {
				tb.deal(s.ID, api.DealRequest{Runs: []audit.Run{seat(2, "a")}})
			}
		}
		must(t, tb.Ledger().Close())
		tb.pass(26 * time.Hour)
		daemons := []*table{tb}
		tb.serve(tb.cfg.Store, tb.open.Mark)
		for range 2 {
			daemons = append(daemons, tb.rival(tb.cfg.Store))
		}
		young := tb.commit("young", deckOf(audit.DisclosurePublic))
		if b, err := tb.Ledger().Backlog(t.Context(), tb.now().UnixMilli()); err != nil || b.Overdue != n {
			t.Errorf("the backlog is %+v, %v", b, err)
		}
		closed := make([]int, 6)
		var wg sync.WaitGroup
		for i := range closed {
			wg.Go(func() {
				var err error
				if closed[i], err = daemons[i%3].Expire(context.Background()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		sum := 0
		for _, c := range closed {
			sum += c
		}
		// Two that write the very same close at the very same time both count it.
		if sum < n {
			t.Errorf("the reapers closed %v, %d in all, of %d", closed, sum, n)
		}
		for _, d := range daemons {
			d.restart()
			if again, err := d.Expire(t.Context()); again != 0 || err != nil {
				t.Errorf("after a restart %d more, %v", again, err)
			}
		}
		times := make(map[uint64]int)
		for _, e := range tb.entries() {
			if c, ok := e.Body.(*audit.Close); ok {
				times[c.Shuffle]++
			}
		}
		if len(times) != n || times[young.ID] > 0 {
			t.Errorf("%d shuffles are closed, want %d", len(times), n)
		}
		r := tb.inspected(nil)
		if r.FaultCount > 0 || r.Totals.Expired != uint64(n) || r.Totals.Open != 1 || r.Totals.Overdue != 0 {
			t.Errorf("the audit finds %+v, %+v", r.Faults, r.Totals)
		}
	})
}

// TestEarlyReaper: a daemon whose own word for the time is ahead expires nothing:
// the ledger's time decides.
func TestEarlyReaper(t *testing.T) {
	t.Parallel()
	tb := newTable(t, nil)
	s := tb.commit("k", deckOf(audit.DisclosurePublic))
	tb.cfg.Now = func() int64 { return tb.now().Add(2 * time.Hour).UnixMilli() }
	hasty := dealer.New(tb.cfg)
	tb.unwritten(func() {
		n, err := hasty.Expire(t.Context())
		wantRefusal(t, "expired before its close-by", err, "", audit.RuleDeadline)
		if n != 0 {
			t.Errorf("%d expired", n)
		}
	})
	tb.deal(s.ID, api.DealRequest{Runs: []audit.Run{seat(1, "a")}})
}
