package dealer_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"shuffled/internal/audit"
	"shuffled/internal/dealer"
	"shuffled/internal/inspect"
	"shuffled/internal/ledger"
	"shuffled/internal/shuffle"
)

func (tb *table) commits(key string, req dealer.ShuffleRequest, count int) []dealer.Shuffle {
	tb.t.Helper()
	s, err := tb.Shuffles(tb.t.Context(), as("tester"), key, req, count)
	if err != nil {
		tb.t.Fatal(err)
	}
	return s
}

// TestBatch: one key, adjacent commits to tapes of their own, which are dealt and
// proved like any other. The whole answer is repeated for ever.
func TestBatch(t *testing.T) {
	onEachStore(t, setting{}, func(t *testing.T, tb *table) {
		const count = 40
		before := tb.commit("before", dealer.ShuffleRequest{Table: "t", Deck: "short-36"})
		closeBy := tb.now().UnixMilli() + 1_000_000
		req := dealer.ShuffleRequest{Table: "t", Deck: "standard-52", GameRef: "g", CloseBy: &closeBy}
		drawn := tb.cfg.Entropy.Stats().Tapes
		all := tb.commits("k", req, count)
		if n := tb.cfg.Entropy.Stats().Tapes - drawn; n != count || len(all) != count {
			t.Fatalf("%d shuffles of %d tapes", len(all), n)
		}
		tb.checkBatch("k", before, all, closeBy)

		// An earlier one is dealt first, as ever.
		hand := dealer.DealRequest{Runs: []audit.Run{seat(2, "a")}}
		for _, s := range append([]dealer.Shuffle{before}, all[:3]...) {
			tb.deal(s.ID, hand)
		}
		_, err := tb.Deal(t.Context(), as("tester"), all[4].ID, hand)
		wantRefusal(t, "the fifth before the fourth", err, "", audit.RuleEarlier)
		_, err = tb.Close(t.Context(), as("tester"), all[0].ID, dealer.CloseRequest{Outcome: audit.OutcomeCompleted})
		if err != nil {
			t.Error(err)
		}
		tb.transcript(all[0].ID, dealer.View{})
		if _, err := tb.SetTable(t.Context(), as("tester"), "t", false); err != nil {
			t.Error(err)
		}
		// Enough behind it that the entries are read from full tiles of the store.
		for i := range 300 {
			tb.commit(fmt.Sprint("more-", i), dealer.ShuffleRequest{Table: "u", Deck: "short-36"})
		}
		tb.restart()
		rival := tb.rival(tb.cfg.Store)
		if err := tb.Ledger().Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		tb.unwritten(func() {
			for _, d := range []*table{tb, rival} {
				if diff := cmp.Diff(all, d.commits("k", req, count), sameAnswer); diff != "" {
					t.Error("again:", diff)
				}
			}
		})
		if r := tb.inspected(nil); r.FaultCount > 0 || r.Verdict != inspect.Consistent && r.Verdict != inspect.Proved {
			t.Errorf("the audit says %s: %+v", r.Verdict, r.Faults)
		}
	})
}

// checkBatch holds an answer against the ledger: entries, tags, tapes, receipts.
func (tb *table) checkBatch(key string, before dealer.Shuffle, all []dealer.Shuffle, closeBy int64) {
	t := tb.t
	t.Helper()
	entries := tb.entries()
	seen := make(map[[32]byte]bool)
	var first *audit.Commit
	checkpoint := ""
	for i, s := range all {
		c, ok := entries[s.ID].Body.(*audit.Commit)
		if !ok || s.ID != all[0].ID+uint64(i) || s.Serial != before.Serial+1+uint64(i) || c.Serial != s.Serial {
			t.Fatalf("shuffle %d of the batch is %+v", i, s)
		}
		if i == 0 {
			first = c
		}
		previous := before.ID
		if i > 0 {
			previous = all[i-1].ID
		}
		if c.KeyTag != audit.KeyTagOf(origin, "tester", "t", key, i) || c.Request != first.Request ||
			c.Previous != previous ||
			c.CloseBy != closeBy || c.GameRef != "g" || c.Context.Recipe.Cards != 52 {
			t.Errorf("commit %d of the batch is %+v", i, c)
		}
		if c.Commitment != s.Commitment || c.DeckRoot != s.DeckRoot || seen[c.Commitment] || seen[c.DeckRoot] ||
			seen[c.KeyTag] {
			t.Errorf("commit %d of the batch is another one, or one of two", i)
		}
		seen[c.Commitment], seen[c.DeckRoot], seen[c.KeyTag] = true, true, true
		r, err := audit.ParseReceipt(s.Receipt)
		if err != nil || r.Index != s.ID {
			t.Fatalf("the receipt of commit %d: %v", i, err)
		}
		if i == 0 {
			checkpoint = string(r.Checkpoint)
		}
		if string(r.Checkpoint) != checkpoint {
			t.Errorf("commit %d stands under another checkpoint", i)
		}
	}
}

// TestBatchUnderAKey: a key is of one request, of a batch or of one shuffle.
func TestBatchUnderAKey(t *testing.T) {
	onEachStore(t, setting{}, func(t *testing.T, tb *table) {
		ctx := t.Context()
		req := dealer.ShuffleRequest{Table: "t", Deck: "standard-52"}
		tb.commits("batch", req, 3)
		tb.commit("one", req)
		if _, err := tb.Draws(ctx, as("tester"), "draws",
			dealer.DrawsRequest{Table: "t", Ranges: []uint32{6}}); err != nil {
			t.Fatal(err)
		}
		other := req
		other.GameRef = "g"
		tb.unwritten(func() {
			for name, ask := range map[string]func() error{
				"another count": func() error {
					_,
						err := tb.Shuffles(ctx, as("tester"), "batch", req, 2)
					return err
				},
				"a greater count": func() error {
					_,
						err := tb.Shuffles(ctx, as("tester"), "batch", req, 4)
					return err
				},
				"another body": func() error {
					_,
						err := tb.Shuffles(ctx, as("tester"), "batch", other, 3)
					return err
				},
				"one for a batch": func() error { _, err := tb.Shuffle(ctx, as("tester"), "batch", req); return err },
				"a batch for one": func() error {
					_,
						err := tb.Shuffles(ctx, as("tester"), "one", req, 2)
					return err
				},
				"a batch for draws": func() error {
					_,
						err := tb.Shuffles(ctx, as("tester"), "draws", req, 2)
					return err
				},
				"draws for a batch": func() error {
					_, err := tb.Draws(ctx, as("tester"), "batch", dealer.DrawsRequest{Table: "t", Ranges: []uint32{6}})
					return err
				},
				"another batch of two": func() error {
					_,
						err := tb.Shuffles(ctx, as("tester"), "one", other, 2)
					return err
				},
			} {
				wantIs(t, name, ask(), dealer.ErrKeyReused)
			}
		})
		// What ends in the bytes of a number is another key, and at another table too.
		for _, key := range []string{"batch1", "batch2", "batc", "k"} {
			tb.commit(key, req)
		}
		at := req
		at.Table = "u"
		tb.commits("batch", at, 3)
		if r := tb.inspected(nil); r.FaultCount > 0 {
			t.Errorf("the audit finds %+v", r.Faults)
		}
	})
}

// TestBatchRefused: what forbids one commit forbids all, and writes none. What is
// wrong with the request itself draws no tape.
func TestBatchRefused(t *testing.T) {
	_, publics := newAuditors(t, 1)
	onEachStore(t, setting{modes: allModes, auditors: publics}, func(t *testing.T, tb *table) {
		ctx := t.Context()
		parent := tb.commit("parent", dealer.ShuffleRequest{Table: "t", Deck: "standard-52"})
		names := make([]string, shuffle.MaxCards)
		for i := range names {
			names[i] = fmt.Sprint(i)
		}
		_, hashes := slots("batch", 1)
		passed := tb.now().UnixMilli() - 1
		drawn := tb.cfg.Entropy.Stats().Tapes
		for _, c := range []struct {
			name        string
			count       int
			change      func(r *dealer.ShuffleRequest)
			field, rule string
		}{
			{"none", 0, nil, "count", ""},
			{"one", 1, nil, "count", ""},
			{"fewer than none", -1, nil, "count", ""},
			{"more than a batch", 257, nil, "count", ""},
			{"a milliard", 1_000_000_000, nil, "count", ""},
			{"too many shoes", 158, func(r *dealer.ShuffleRequest) { r.Deck = "shoe-8" }, "count", ""},
			{"too many of the largest decks", 17, func(r *dealer.ShuffleRequest) { r.Deck, r.Cards = "", names },
				"count", ""},
			{"of which few are taken", 17,
				func(r *dealer.ShuffleRequest) { r.Deck, r.Cards, r.Take = "", names, num(5) }, "count", ""},
			{"children", 2, func(r *dealer.ShuffleRequest) { r.Deck, r.Parent = "", &dealer.Parent{ID: parent.ID} },
				"count", ""},
			{"slots", 2, func(r *dealer.ShuffleRequest) { r.Plan = &dealer.MixPlan{Slots: hashes, Cut: true} }, "count",
				""},
			{"no deck", 2, func(r *dealer.ShuffleRequest) { r.Deck = "" }, "deck", ""},
			{"a mix of one card", 2, func(r *dealer.ShuffleRequest) {
				r.Take, r.Plan = num(1),
					&dealer.MixPlan{Cut: true}
			}, "mix", ""},
			{"after their end", 2, func(r *dealer.ShuffleRequest) { r.CloseBy = &passed }, "", audit.RuleCloseBy},
		} {
			req := dealer.ShuffleRequest{Table: "t", Deck: "standard-52"}
			if c.change != nil {
				c.change(&req)
			}
			tb.unwritten(func() {
				_, err := tb.Shuffles(ctx, as("tester"), "k", req, c.count)
				wantRefusal(t, c.name, err, c.field, c.rule)
			})
			if n := tb.cfg.Entropy.Stats().Tapes - drawn; c.field != "" && n != 0 {
				t.Errorf("%s: %d tapes were drawn", c.name, n)
			}
		}
		req := dealer.ShuffleRequest{Table: "t", Deck: "standard-52"}
		blocked := func(rule string, set, clear func() error) {
			t.Helper()
			if err := set(); err != nil {
				t.Fatal(err)
			}
			tb.unwritten(func() {
				_, err := tb.Shuffles(ctx, as("tester"), "k", req, 3)
				wantRefusal(t, rule, err, "", rule)
			})
			if err := clear(); err != nil {
				t.Fatal(err)
			}
		}
		table := func(open bool) func() error {
			return func() error { _, err := tb.SetTable(ctx, as("tester"), "t", open); return err }
		}
		kill := func(set bool) func() error {
			return func() error {
				_, err := tb.SetSwitch(ctx, as("tester"),
					dealer.SwitchRequest{Scope: audit.ScopeDeck, Deck: "standard-52", Set: set, Reason: "r"})
				return err
			}
		}
		blocked(audit.RuleTable, table(false), table(true))
		blocked(audit.RuleKill, kill(true), kill(false))
		if _, err := tb.Shuffles(ctx, as("tester"), "two words", req, 2); err == nil ||
			!strings.Contains(err.Error(), "Idempotency-Key") {
			t.Errorf("a key with a space: %v", err)
		}
		gone, cancel := context.WithCancel(ctx)
		cancel()
		tb.unwritten(func() {
			_, err := tb.Shuffles(gone, as("tester"), "k", req, 256)
			wantIs(t, "nobody waits", err, context.Canceled)
		})
		// The key is free still, for the largest there are.
		if n := len(tb.commits("k", dealer.ShuffleRequest{Table: "t", Cards: names,
			Disclosure: audit.DisclosureAuditor}, 16)); n != 16 {
			t.Errorf("%d shuffles", n)
		}
		if n := len(tb.commits("shoes", dealer.ShuffleRequest{Table: "t", Deck: "shoe-8"}, 157)); n != 157 {
			t.Errorf("%d shoes", n)
		}
		if n := len(tb.commits("decks", req, 256)); n != 256 {
			t.Errorf("%d decks", n)
		}
	})
}

// TestBatchCopies sends copies of a batch together to two daemons, with requests
// that differ under the same key. One request has the key; its copies all get the
// same answer, the others are told.
func TestBatchCopies(t *testing.T) {
	onEachStore(t, setting{}, func(t *testing.T, tb *table) {
		daemons := []*table{tb, tb.rival(tb.cfg.Store)}
		rounds, commits := 12, 0
		if testing.Short() {
			rounds = 4
		}
		won := make(map[int]int)
		for n := range rounds {
			key := fmt.Sprint("key-", n)
			req := dealer.ShuffleRequest{Table: "t", Deck: "standard-52"}
			var wg sync.WaitGroup
			answers, errs := make([][]dealer.Shuffle, 24), make([]error, 24)
			for i := range answers {
				d, count := daemons[i%2], []int{3, 5, 1}[i%3]
				wg.Go(func() {
					if count == 1 {
						s, err := d.Shuffle(context.Background(), as("tester"), key, req)
						answers[i], errs[i] = []dealer.Shuffle{s}, err
						return
					}
					answers[i], errs[i] = d.Shuffles(context.Background(), as("tester"), key, req, count)
				})
			}
			wg.Wait()
			kind := -1
			var first []dealer.Shuffle
			for i, err := range errs {
				switch {
				case errors.Is(err, dealer.ErrKeyReused):
				case err != nil:
					t.Errorf("%s: %v", key, err)
				case kind >= 0 && kind != i%3:
					t.Errorf("%s: two requests were answered", key)
				case kind < 0:
					kind, first = i%3, answers[i]
				default:
					if diff := cmp.Diff(first, answers[i], sameAnswer); diff != "" {
						t.Errorf("%s: copies get different answers: %s", key, diff)
					}
				}
			}
			if kind < 0 {
				t.Fatalf("%s: nobody was answered", key)
			}
			for i, err := range errs {
				if i%3 == kind && err != nil {
					t.Errorf("%s: a copy of what was answered got %v", key, err)
				}
			}
			won[len(first)]++
			commits += len(first)
		}
		t.Log(won)
		found := 0
		for _, e := range tb.entries() {
			if _, ok := e.Body.(*audit.Commit); ok {
				found++
			}
		}
		if found != commits {
			t.Errorf("%d commits for %d shuffles that were answered", found, commits)
		}
		if r := tb.inspected(nil); r.FaultCount > 0 {
			t.Errorf("the audit finds %+v", r.Faults)
		}
	})
}

// lyingRows is a store that lies about rows.
type lyingRows struct {
	ledger.Store
	lie func(rows []ledger.Row) []ledger.Row
}

func (s *lyingRows) Rows(ctx context.Context, id ledger.ID, from, to uint64) iter.Seq2[ledger.Row, error] {
	if s.lie == nil {
		return s.Store.Rows(ctx, id, from, to)
	}
	return func(yield func(ledger.Row, error) bool) {
		var rows []ledger.Row
		for row, err := range s.Store.Rows(ctx, id, from, to) {
			if err != nil {
				yield(row, err)
				return
			}
			rows = append(rows, row)
		}
		for _, row := range s.lie(rows) {
			if !yield(row, nil) {
				return
			}
		}
	}
}

// row reads one row from the store.
func (tb *table) row(index uint64) ledger.Row {
	tb.t.Helper()
	for row, err := range tb.cfg.Store.Rows(tb.t.Context(), tb.Ledger().ID(), index, index+1) {
		if err != nil {
			tb.t.Fatal(err)
		}
		return row
	}
	tb.t.Fatalf("no entry %d", index)
	return ledger.Row{}
}

// TestBatchFromALyingStore: the rows of a batch are believed only as what they are.
func TestBatchFromALyingStore(t *testing.T) {
	t.Parallel()
	tb := newTable(t, nil)
	req := dealer.ShuffleRequest{Table: "t", Deck: "standard-52"}
	tb.commits("k", req, 3)
	other := tb.commits("other", req, 3)
	store := &lyingRows{Store: tb.cfg.Store}
	liar := tb.rival(store)
	if got := liar.commits("k", req, 3); len(got) != 3 {
		t.Fatalf("%d shuffles without a lie", len(got))
	}
	for name, lie := range map[string]func(rows []ledger.Row) []ledger.Row{
		"one is missing": func(rows []ledger.Row) []ledger.Row { return rows[:2] },
		"one of another batch": func(rows []ledger.Row) []ledger.Row {
			rows[2] = tb.row(other[2].ID)
			return rows
		},
		"in its place": func(rows []ledger.Row) []ledger.Row {
			at := rows[2].Index
			rows[2] = tb.row(other[2].ID)
			rows[2].Index = at
			return rows
		},
		"another order": func(rows []ledger.Row) []ledger.Row { return []ledger.Row{rows[0], rows[2], rows[1]} },
	} {
		store.lie = lie
		_, err := liar.Shuffles(t.Context(), as("tester"), "k", req, 3)
		wantIs(t, name, err, ledger.ErrFrozen)
	}
}

// heldStore holds up every append once held is set, until it is closed.
type heldStore struct {
	ledger.Store
	held atomic.Pointer[chan struct{}]
}

func (s *heldStore) Append(ctx context.Context, id ledger.ID, old ledger.Head, b ledger.Batch) error {
	if held := s.held.Load(); held != nil {
		<-*held
	}
	return s.Store.Append(ctx, id, old, b)
}

// TestBatchesInTurn: no more than so many commits of batches are worked on at a
// time. Those that come then draw no tape, and find out in time.
func TestBatchesInTurn(t *testing.T) {
	t.Parallel()
	const atOnce = 8 // of 256
	tb := newTable(t, nil)
	store := &heldStore{Store: tb.cfg.Store}
	held := tb.rival(store)
	free := make(chan struct{})
	store.held.Store(&free)
	req := dealer.ShuffleRequest{Table: "t", Deck: "short-36"}
	drawn := func() uint64 { return held.cfg.Entropy.Stats().Tapes }
	before := drawn()
	var wg sync.WaitGroup
	for i := range atOnce {
		wg.Go(func() {
			if all, err := held.Shuffles(context.Background(), as("tester"), fmt.Sprint("k", i), req,
				256); err != nil || len(all) != 256 {
				t.Errorf("batch %d: %d shuffles, %v", i, len(all), err)
			}
		})
	}
	for drawn()-before < atOnce*256 {
		runtime.Gosched()
	}
	for _, count := range []int{2, 256} {
		err := error(ledger.ErrUnavailable)
		// Long enough for the look-up of the key, which comes before.
		for patience := time.Millisecond; errors.Is(err, ledger.ErrUnavailable); patience *= 2 {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			_, err = held.Shuffles(ctx, as("tester"), fmt.Sprint("late-", count), req, count)
			cancel()
		}
		wantIs(t, "a batch too many", err, ledger.ErrOverloaded)
	}
	// Nor do those that come with a patience which ends before their time does.
	err := error(nil)
	for patience := time.Millisecond; err == nil || !strings.Contains(err.Error(), "other batches"); patience *= 2 {
		_, err = held.Shuffles(ledger.WithPatience(t.Context(), time.Now().Add(patience)), as("tester"), "impatient",
			req, 2)
		wantIs(t, "an impatient batch", err, ledger.ErrOverloaded)
	}
	if n := drawn() - before; n != atOnce*256 {
		t.Errorf("%d tapes were drawn", n)
	}
	close(free)
	wg.Wait()
	if n := len(held.commits("late-2", req, 2)); n != 2 {
		t.Errorf("%d shuffles", n)
	}
}
