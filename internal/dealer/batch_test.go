package dealer_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"shuffled/internal/audit"
	"shuffled/internal/beacon/beacontest"
	"shuffled/internal/dealer"
	"shuffled/internal/dealer/api"
	"shuffled/internal/dealer/batch"
	"shuffled/internal/inspect"
	"shuffled/internal/ledger"
)

// batch sends operations, which wait for witnesses as a single deal does.
func (tb *table) batch(ctx context.Context, ops []batch.Operation, together bool) ([]batch.Result, error) {
	return batch.Run(ctx, tb.Dealer, as("tester"), ops, together,
		func(id uint64) (context.Context, error) { return ctx, tb.Shuffles().AwaitWitnesses(ctx, id) })
}

// singly sends the operations as single requests, one after another.
func (tb *table) singly(ops []batch.Operation) []batch.Result {
	results, ids := make([]batch.Result, len(ops)), make([]uint64, len(ops))
	ctx, by := tb.t.Context(), as("tester")
	for i, op := range ops {
		id := op.Shuffle
		if op.Of >= 0 {
			id = ids[op.Of]
		}
		ids[i] = id
		var answer any
		var err error
		switch {
		case op.Cards != nil:
			var s api.Shuffle
			s, err = tb.Shuffle(ctx, by, op.Key, *op.Cards)
			answer, ids[i] = s, s.ID
		case op.Draws != nil:
			var s api.Shuffle
			s, err = tb.Draws(ctx, by, op.Key, *op.Draws)
			answer, ids[i] = s, s.ID
		case id == 0:
			err = &batch.NoShuffleError{Operation: op.Of, Cause: results[op.Of].Err}
		case op.Mix != nil:
			answer, err = tb.Mix(ctx, by, id, *op.Mix)
		case op.Deal != nil:
			answer, err = tb.Deal(ctx, by, id, *op.Deal)
		case op.Close != nil:
			answer, err = tb.Close(ctx, by, id, *op.Close)
		}
		results[i] = batch.Result{Answer: answer, Err: err}
		if err != nil {
			results[i].Answer = nil
		}
	}
	return results
}

// told is what an answer says that does not hang on the tape, the clock or the place of an entry.
func told(r batch.Result) string {
	var illegal *audit.Illegal
	var wrong *api.RequestError
	var lacking *batch.NoShuffleError
	switch {
	case errors.As(r.Err, &lacking):
		return fmt.Sprint("lacks ", lacking.Operation, told(batch.Result{Err: lacking.Cause}))
	case errors.As(r.Err, &illegal):
		return "rule " + illegal.Code
	case errors.As(r.Err, &wrong):
		return "field " + wrong.Field
	case r.Err != nil:
		inner := r.Err
		for e := inner; e != nil; e = errors.Unwrap(e) {
			inner = e
		}
		return "error " + inner.Error()
	}
	switch a := r.Answer.(type) {
	case api.Shuffle:
		return fmt.Sprint("shuffle ", a.Table, a.Serial, a.Repeated)
	case api.Deal:
		return fmt.Sprint("deal ", a.Next, len(a.Cards), a.Close != nil, a.Repeated)
	case api.Close:
		return fmt.Sprint("close ", len(a.Tape), a.Repeated)
	case api.Mix:
		return fmt.Sprint("mix ", a.Repeated)
	}
	return fmt.Sprintf("%T", r.Answer)
}

// someOperations are n operations of a few tables and keys, most of them right. Each table has an open shuffle.
func someOperations(r *rand.Rand, n int, tables []string, open []uint64) (ops []batch.Operation) {
	end := func() api.CloseRequest {
		return []api.CloseRequest{{Outcome: audit.OutcomeCompleted}, {Outcome: audit.OutcomeEndedEarly},
			{Outcome: audit.OutcomeVoid, Reason: audit.ReasonMisdeal}, {Outcome: audit.OutcomeVoid}}[r.IntN(4)]
	}
	_, hashes := slots("batch", 2)
	for i := range n {
		at := r.IntN(len(tables))
		op := batch.Operation{Table: tables[at], Of: -1, Shuffle: open[at]}
		if i > 0 && r.IntN(4) > 0 {
			op.Of = r.IntN(i)
			op.Table, op.Shuffle = ops[op.Of].Table, 0
		}
		kind := r.IntN(10)
		if i < n/6 {
			kind = 0
		}
		switch {
		case kind < 2:
			op.Of, op.Shuffle, op.Key = -1, 0, fmt.Sprint(op.Table, "-", r.IntN(4))
			op.Cards = &api.ShuffleRequest{Table: op.Table, Deck: []string{"standard-52", "short-36"}[r.IntN(2)]}
			switch r.IntN(8) {
			case 0, 1:
				op.Cards.Plan = &api.MixPlan{Cut: true}
			case 2:
				op.Cards.Plan = &api.MixPlan{Slots: hashes[:1+r.IntN(2)]}
			case 3:
				op.Cards.Deck, op.Cards.Parent = "", &api.Parent{ID: open[at]}
				op.Cards.Table = tables[at]
				op.Table = tables[at]
			case 4:
				op.Cards.Deck = "no such deck"
			}
		case kind == 2:
			op.Of, op.Shuffle, op.Key = -1, 0, fmt.Sprint(op.Table, "-", r.IntN(4))
			op.Draws = &api.DrawsRequest{Table: op.Table, Ranges: []uint32{6, 6, 37}}
		case kind == 3:
			op.Mix = &api.MixRequest{Cut: num(r.IntN(3) * 20)}
		case kind < 9:
			op.Deal = &api.DealRequest{First: []int{0, 0, 1, 2, 2, 4}[r.IntN(6)],
				Runs: []audit.Run{{Count: 1 + r.IntN(2), Purpose: audit.PurposeBoard, Public: true}}}
			if r.IntN(5) == 0 {
				e := end()
				op.Deal.Close = &e
			}
		default:
			e := end()
			op.Close = &e
		}
		ops = append(ops, op)
	}
	return ops
}

// TestBatchIsItsRequests: a batch answers as the same single requests in their order, whatever the mix of tables, keys
// and errors; a repeated one repeats what was appended, byte for byte; and the ledger passes its audit.
func TestBatchIsItsRequests(t *testing.T) {
	t.Parallel()
	for _, postgres := range []bool{false, true} {
		t.Run(map[bool]string{false: "sqlite", true: "postgres"}[postgres], func(t *testing.T) {
			t.Parallel()
			one := newTableWith(t, setting{modes: allModes, postgres: postgres})
			other := newTableWith(t, setting{modes: allModes, postgres: postgres})
			rounds := 60
			if testing.Short() {
				rounds = 20
			}
			seed := rand.Uint64()
			r := rand.New(rand.NewPCG(seed, 0))
			for n := range rounds {
				var tables []string
				var open []uint64
				for i := range 3 {
					name := fmt.Sprintf("t%d-%d", n, i)
					req := api.ShuffleRequest{Table: name, Deck: "standard-52"}
					tables, open = append(tables, name), append(open, one.commit(name, req).ID)
					if id := other.commit(name, req).ID; id != open[i] {
						t.Fatalf("seed %d: the ledgers have grown apart: %d and %d", seed, open[i], id)
					}
				}
				ops := someOperations(r, 1+r.IntN(40), tables, open)
				want := one.singly(ops)
				got, err := other.batch(t.Context(), ops, false)
				must(t, err)
				for i := range ops {
					if told(got[i]) != told(want[i]) {
						t.Errorf("seed %d, batch %d, operation %d of %d is %s, and alone it is %s: %+v", seed, n, i,
							len(ops), told(got[i]), told(want[i]), ops[i])
					}
				}
				again, err := other.batch(t.Context(), ops, false)
				must(t, err)
				for i := range got {
					if got[i].Err == nil && !cmp.Equal(got[i].Answer, again[i].Answer, sameAnswer) {
						t.Errorf("seed %d, batch %d, operation %d again: %s", seed, n, i,
							cmp.Diff(got[i].Answer, again[i].Answer, sameAnswer))
					}
				}
				one.singly(ops) // so that both ledgers have the same length
				if t.Failed() {
					return
				}
			}
			a, b := one.Ledger().Live(), other.Ledger().Live()
			if a.Size != b.Size || b.Appends.Landed >= a.Appends.Landed {
				t.Errorf("%d entries in %d appends, and singly %d in %d", b.Size, b.Appends.Landed, a.Size,
					a.Appends.Landed)
			}
			if report := other.inspected(nil); report.FaultCount > 0 || report.Verdict != inspect.Consistent &&
				report.Verdict != inspect.Proved {
				t.Errorf("the audit says %s: %+v", report.Verdict, report.Faults)
			}
		})
	}
}

// handOf are the operations of a whole hand at a table, behind n others.
func handOf(table string, n int) []batch.Operation {
	end := api.CloseRequest{Outcome: audit.OutcomeCompleted}
	op := func(o batch.Operation) batch.Operation { o.Table, o.Of = table, n; return o }
	commit := op(batch.Operation{Key: table, Cards: &api.ShuffleRequest{Table: table, Deck: "standard-52"}})
	commit.Of = -1
	return []batch.Operation{commit,
		op(batch.Operation{Deal: &api.DealRequest{Runs: []audit.Run{seat(2, "a"), seat(2, "b")}}}),
		op(batch.Operation{Deal: &api.DealRequest{First: 4, Runs: []audit.Run{board(3)}}}),
		op(batch.Operation{Close: &end})}
}

// TestBatchInTwoRounds: hands of many tables, and of one, are two appends, their commits and the rest, also under
// witnesses.
func TestBatchInTwoRounds(t *testing.T) {
	t.Parallel()
	for n := range 4 {
		witnesses, tables := n&2, 1+n&1*49
		tb := newTableWith(t, setting{witnesses: witnesses})
		var ops []batch.Operation
		for i := range 50 {
			hand := handOf(fmt.Sprint("t", i%tables), len(ops))
			hand[0].Key = fmt.Sprint("hand-", i)
			ops = append(ops, hand...)
		}
		before := tb.Ledger().Live().Appends.Landed
		results, err := tb.batch(t.Context(), ops, false)
		must(t, err)
		for i, r := range results {
			if r.Err != nil {
				t.Fatalf("operation %d: %v", i, r.Err)
			}
		}
		if n := tb.Ledger().Live().Appends.Landed - before; n != 2 {
			t.Errorf("with %d witnesses %d appends", witnesses, n)
		}
		tb.transcript(results[0].Answer.(api.Shuffle).ID, api.View{})
	}
}

// TestBatchJudgesInOrder: an operation that comes too early is refused although a later one
// of the batch makes room for it, and a reveal sees what was dealt in front of it.
func TestBatchJudgesInOrder(t *testing.T) {
	t.Parallel()
	tb := newTable(t, nil)
	open := tb.commit("open", api.ShuffleRequest{Table: "u", Deck: "standard-52"})
	of := func(op batch.Operation) batch.Operation {
		op.Table, op.Of, op.Shuffle = "u", -1, open.ID
		return op
	}
	deal := func(first int) batch.Operation {
		return of(batch.Operation{Deal: &api.DealRequest{First: first, Runs: []audit.Run{seat(2, "a")}}})
	}
	reveal := func(place int) batch.Operation {
		return of(batch.Operation{Reveal: &api.RevealRequest{Places: []int{place}}})
	}
	results, err := tb.batch(t.Context(), []batch.Operation{deal(2), reveal(0), deal(0), reveal(1), deal(2), reveal(3),
		of(batch.Operation{Close: &api.CloseRequest{Outcome: audit.OutcomeEndedEarly}})}, false)
	must(t, err)
	for i, refused := range []bool{true, true, false, false, false, false, false} {
		if got := results[i].Err; (got != nil) != refused {
			t.Errorf("operation %d: %v", i, got)
		}
	}
}

// TestBatchAllOrNone: nothing is appended if one operation is refused, which is told from
// the others; and a batch that needs two rounds is refused whole.
func TestBatchAllOrNone(t *testing.T) {
	t.Parallel()
	tb := newTable(t, nil)
	var good []batch.Operation
	for i := range 3 {
		good = append(good, handOf(fmt.Sprint("t", i), 0)[0])
	}
	open := tb.commit("open", api.ShuffleRequest{Table: "u", Deck: "standard-52"})
	deal := func(first int, runs ...audit.Run) batch.Operation {
		return batch.Operation{Table: "u", Of: -1, Shuffle: open.ID, Deal: &api.DealRequest{First: first, Runs: runs}}
	}
	for name, bad := range map[string]batch.Operation{
		"of a rule": deal(9, board(1)), "of its own": deal(0),
	} {
		tb.unwritten(func() {
			results, err := tb.batch(t.Context(), append(good[:2:2], bad, good[2]), true)
			must(t, err)
			for i, r := range results {
				if (i == 2) == errors.Is(r.Err, dealer.ErrTogether) || r.Err == nil {
					t.Errorf("%s: operation %d: %v", name, i, r.Err)
				}
			}
		})
	}
	tb.unwritten(func() {
		_, err := tb.batch(t.Context(), handOf("v", 0), true)
		var rounds *batch.RoundsError
		if !errors.As(err, &rounds) || rounds.Operation != 1 {
			t.Errorf("a hand, all or none: %v", err)
		}
	})
	before := tb.Ledger().Live().Appends.Landed
	all := append(good[:3:3], deal(0, board(1)), deal(1, board(2)))
	first, err := tb.batch(t.Context(), all, true)
	must(t, err)
	again, err := tb.batch(t.Context(), all, true)
	must(t, err)
	for i := range all {
		if first[i].Err != nil || !cmp.Equal(first[i], again[i], sameAnswer) {
			t.Errorf("operation %d: %v, %v", i, first[i].Err, again[i].Err)
		}
	}
	if n := tb.Ledger().Live().Appends.Landed - before; n != 1 {
		t.Errorf("%d appends", n)
	}
}

// twice runs two copies of a batch at the same time, one of them backwards. Both give the same answers, which twice
// returns.
func (tb *table) twice(ops []batch.Operation, together bool) []batch.Result {
	tb.t.Helper()
	copies, results := [2][]batch.Operation{ops, slices.Clone(ops)}, [2][]batch.Result{}
	slices.Reverse(copies[1])
	var both sync.WaitGroup
	for i := range copies {
		both.Go(func() {
			var err error
			if results[i], err = tb.batch(tb.t.Context(), copies[i], together); err != nil {
				tb.t.Error(err)
			}
		})
	}
	both.Wait()
	slices.Reverse(results[1])
	for i, one := range results[0] {
		if other := results[1][i]; one.Err != nil || other.Err != nil || !cmp.Equal(one, other, sameAnswer) {
			tb.t.Fatalf("operation %d: %v, %v", i, one.Err, other.Err)
		}
	}
	return results[0]
}

// TestBatchTwiceAtOnce: of two copies of a batch neither waits for the other, and each answer of one repeats the other.
func TestBatchTwiceAtOnce(t *testing.T) {
	t.Parallel()
	tb := newTable(t, nil)
	for try := range 10 {
		var commits, deals []batch.Operation
		for i := range 64 {
			commits = append(commits, handOf(fmt.Sprint("t", i), 0)[0])
			commits[i].Key = fmt.Sprint("try-", try)
		}
		for i, made := range tb.twice(commits, try%2 == 0) {
			deal := handOf(commits[i].Table, -1)[1]
			deal.Shuffle = made.Answer.(api.Shuffle).ID
			deals = append(deals, deal)
		}
		tb.twice(deals, try%2 == 0)
	}
}

// TestBatchEndsAtUndecided: nothing behind an operation that is to be repeated is written, in its round or a later one.
func TestBatchEndsAtUndecided(t *testing.T) {
	t.Parallel()
	tb := newTable(t, nil)
	away := batch.Operation{Table: "u", Of: -1, Err: ledger.ErrUnavailable}
	for at, ops := range [][]batch.Operation{append([]batch.Operation{away}, handOf("t", 1)...),
		slices.Insert(handOf("t", 0), 1, away)} {
		before := tb.Ledger().Live().Size
		results, err := tb.batch(t.Context(), ops, false)
		must(t, err)
		if n := tb.Ledger().Live().Size - before; n != uint64(at) {
			t.Errorf("%d entries, and %d operations stand in front", n, at)
		}
		for i, r := range results {
			if (r.Err == nil) != (i < at) {
				t.Errorf("operation %d of %d: %v", i, at, r.Err)
			}
		}
	}
	tb = newTableWith(t, setting{witnesses: 1})
	tb.witnesses[0].Down(true)
	results, err := batch.Run(t.Context(), tb.Dealer, as("tester"), handOf("t", 0), false,
		func(uint64) (context.Context, error) { return t.Context(), ledger.ErrNotWitnessed })
	if err != nil || results[0].Err != nil || results[1].Err == nil || results[3].Err == nil {
		t.Errorf("a hand without witnesses: %v, %v", results, err)
	}
}

// endingStore ends a context when so many appends have landed.
type endingStore struct {
	ledger.Store
	left atomic.Int64
	cut  context.CancelFunc
}

func (s *endingStore) Append(ctx context.Context, id ledger.ID, old ledger.Head, b ledger.Batch) error {
	err := s.Store.Append(ctx, id, old, b)
	if err == nil && s.left.Add(-1) == 0 {
		s.cut()
	}
	return err
}

// TestBatchCutBetweenRounds: what was appended is there after a restart, and the repeated batch goes on from it.
func TestBatchCutBetweenRounds(t *testing.T) {
	t.Parallel()
	tb := newTable(t, nil)
	var ops []batch.Operation
	for i := range 8 {
		ops = append(ops, handOf(fmt.Sprint("t", i), len(ops))...)
	}
	ctx, cut := context.WithCancel(t.Context())
	store := &endingStore{Store: tb.cfg.Store, cut: cut}
	tb.Ledger().Close()
	tb.serve(store, tb.open.Mark)
	store.left.Store(1)
	first, err := tb.batch(ctx, ops, false)
	must(t, err)
	for i, r := range first {
		if i%4 > 0 && r.Err == nil {
			t.Errorf("operation %d was answered after the cut", i)
		}
	}
	tb.restart()
	again, err := tb.batch(t.Context(), ops, false)
	must(t, err)
	for i, r := range again {
		if r.Err != nil {
			t.Fatalf("operation %d: %v", i, r.Err)
		}
		if s, ok := r.Answer.(api.Shuffle); ok && !s.Repeated {
			t.Errorf("operation %d commits a second time", i)
		}
	}
	if report := tb.inspected(nil); report.FaultCount > 0 {
		t.Errorf("the audit says %s: %+v", report.Verdict, report.Faults)
	}
}

// TestBatchBeaconEarly: a mix whose beacon is not out may be asked for again. The batch does not close the hand behind
// it.
func TestBatchBeaconEarly(t *testing.T) {
	t.Parallel()
	round := beacontest.Newest().Round
	tb := newTableWith(t, setting{modes: allModes, at: roundTime(round).Add(-30 * time.Second)})
	s := tb.commit("k", api.ShuffleRequest{Table: "t", Deck: "standard-52",
		Plan: &api.MixPlan{Beacon: &api.BeaconPlan{Round: &round}}})
	tb.cfg.Round = func(context.Context, uint64) ([48]byte, error) { return [48]byte{}, errors.New("no relay answers") }
	tb.Dealer = dealer.New(tb.cfg)
	ops := []batch.Operation{{Mix: &api.MixRequest{}}, {Deal: &api.DealRequest{Runs: []audit.Run{seat(2, "a")}}},
		{Close: &api.CloseRequest{Outcome: audit.OutcomeCompleted}}}
	for i := range ops {
		ops[i].Table, ops[i].Of, ops[i].Shuffle = "t", -1, s.ID
	}
	results, err := tb.batch(t.Context(), ops, false)
	if err != nil || !errors.Is(results[0].Err, api.ErrBeaconEarly) || !errors.Is(results[2].Err, ledger.ErrBehind) {
		t.Errorf("%+v, %v", results, err)
	}
}

// TestBatchForAuditors: a close for auditors that moves with the deal in front of it is proposed again, and a batch of
// many portions is done at once. Alone and for all or none, a close does not rest on what memory lacks: the deal of
// another daemon, or its disclosure key.
func TestBatchForAuditors(t *testing.T) {
	t.Parallel()
	_, publics := newAuditors(t, 1)
	tb := newTableWith(t, setting{auditors: publics, disclosure: audit.DisclosureAuditor})
	var ops []batch.Operation
	for i := range 256 {
		ops = append(ops, handOf(fmt.Sprint("t", i), len(ops))...)
	}
	results, err := tb.batch(t.Context(), ops, false)
	must(t, err)
	for i, r := range results {
		if r.Err != nil {
			t.Fatalf("operation %d: %v", i, r.Err)
		}
	}
	other := tb.rival(tb.open.Store)
	alone := func(s api.Shuffle) error {
		results, err := tb.batch(t.Context(), []batch.Operation{{Table: s.Table, Of: -1, Shuffle: s.ID,
			Close: &api.CloseRequest{Outcome: audit.OutcomeEndedEarly}}}, true)
		must(t, err)
		return results[0].Err
	}
	s := tb.commit("k", api.ShuffleRequest{Table: "t", Deck: "standard-52"})
	other.deal(s.ID, api.DealRequest{Runs: []audit.Run{board(3)}})
	must(t, alone(s))
	tb.pass(25 * time.Hour)
	s = other.commit("m", api.ShuffleRequest{Table: "v", Deck: "standard-52"}) // makes a new disclosure key
	if err := alone(s); err != nil && !errors.Is(err, ledger.ErrOverloaded) {
		t.Errorf("under the key before: %v", err)
	}
	must(t, alone(s))
}

// TestTogetherSlot: of a batch for all or none, the commit whose slot is taken is told so, and no other one.
func TestTogetherSlot(t *testing.T) {
	t.Parallel()
	tb := newTableWith(t, setting{modes: allModes})
	_, hashes := slots("together", 1)
	plan := &api.MixPlan{Slots: hashes}
	tb.commit("k", api.ShuffleRequest{Table: "t", Deck: "standard-52", Plan: plan})
	results, err := tb.batch(t.Context(), []batch.Operation{
		{Table: "a", Of: -1, Key: "a", Cards: &api.ShuffleRequest{Table: "a", Deck: "standard-52"}},
		{Table: "b", Of: -1, Key: "b", Cards: &api.ShuffleRequest{Table: "b", Deck: "standard-52", Plan: plan}}}, true)
	must(t, err)
	if !errors.Is(results[0].Err, dealer.ErrTogether) || errors.Is(results[1].Err, dealer.ErrTogether) {
		t.Errorf("%v, %v", results[0].Err, results[1].Err)
	}
}
