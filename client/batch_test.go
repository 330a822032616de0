package client_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"shuffled/client"
)

var (
	completed  = client.CloseRequest{Outcome: client.OutcomeCompleted}
	turnAndEnd = client.DealRequest{First: 5, Runs: []client.Run{{Count: 1, Purpose: client.PurposeBurn},
		{Count: 1, Purpose: client.PurposeBoard, Public: ptr(true)}}, Close: &completed}
)

// handOf are the steps of a hand with a showdown, behind n others.
func handOf(table, key string, n int) []client.Step {
	return []client.Step{
		{Key: key, Request: client.ShuffleRequest{Table: table, Deck: ptr("short-36"), GameRef: ptr("g")}},
		{From: n, Request: twoSeats},
		{From: n + 1, Request: client.RevealRequest{Places: []int{1, 0}}},
		{From: n, Request: turnAndEnd},
	}
}

// doneOf is what a batch returned, in a form that can be compared: why steps were refused is the daemon's word.
func doneOf(done []client.Done, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	all := make([]any, len(done))
	for i, d := range done {
		if d.Err != nil {
			all[i] = "refused"
			continue
		}
		all[i] = []any{shuffleOf(d.Shuffle), d.Mix, d.Deal, d.Reveal, d.Close}
	}
	return all, nil
}

// TestBatch plays hands at several tables in one request, next to a shuffle that stands.
func TestBatch(t *testing.T) {
	t.Parallel()
	d := newDaemon(t)
	c := d.client(nil, nil)
	ctx := client.FirstTried(t.Context(), d.start)
	open, err := c.Commit(ctx, "open", shortDeck)
	check(err)
	wheel := client.DrawsRequest{Table: "w", Wheel: []client.Stop{{Label: "1", Weight: 3}, {Label: "2", Weight: 1}}}
	var steps []client.Step
	for i := range 3 {
		steps = append(steps, handOf(fmt.Sprint("t", i), fmt.Sprint("k", i), len(steps))...)
	}
	steps = append(steps, client.Step{Of: open, Request: twoSeats},
		client.Step{Of: open, Request: client.DealRequest{First: 9, Runs: twoSeats.Runs}},
		client.Step{Of: open, Request: client.CloseRequest{Outcome: client.OutcomeCompleted, Reveal: []int{0}}},
		client.Step{Key: "w", Request: wheel},
		client.Step{Key: "child", Of: open, Request: client.ShuffleRequest{Table: "t",
			Parent: &client.Parent{ID: open.ID}}})
	done, err := c.Batch(ctx, steps, false)
	must(t, err)
	for i, s := range done {
		switch i {
		case 13:
			isRefused(t, "a deal of later places", s.Err, client.CodePlace)
		case 16:
			isRefused(t, "a child of what was closed in front of it", s.Err, client.CodeParent)
		default:
			if s.Err != nil || s.Shuffle == nil {
				t.Fatalf("step %d: %v", i, s.Err)
			}
		}
	}
}

// TestLiesOfBatches tells every lie about the answer to a batch in which each kind of step
// stands, and one that is refused.
func TestLiesOfBatches(t *testing.T) {
	t.Parallel()
	d, l := newDaemon(t), new(liar)
	c := d.client(l.between, nil)
	ctx := client.FirstTried(t.Context(), d.start)
	open, err := c.Commit(ctx, "open", shortDeck)
	check(err)
	cut := client.MixPlanCut(true)
	steps := append(handOf("t1", "k", 0),
		client.Step{Key: "d", Request: client.DrawsRequest{Table: "d", Ranges: []uint32{6, 6}}},
		client.Step{Key: "m", Request: client.ShuffleRequest{Table: "m", Deck: ptr("short-36"),
			Mix: &client.MixPlan{Cut: &cut}}},
		client.Step{From: 5, Request: client.MixRequest{Cut: ptr(7)}},
		client.Step{From: 5, Request: twoSeats},
		client.Step{From: 5, Request: completed},
		client.Step{Of: open, Request: client.DealRequest{First: 9, Runs: twoSeats.Runs}})
	lieAbout(t, l, []told{{"batch", "/batch", func() (any, error) { return doneOf(c.Batch(ctx, steps, false)) },
		map[string]string{"/results/9/body": "why a step is refused is the daemon's word"}}})
	together := []client.Step{steps[0], steps[4], steps[5]}
	lieAbout(t, l, []told{{"all or none", "/batch",
		func() (any, error) { return doneOf(c.Batch(ctx, together, true)) }, nil}})
}

// TestForeignBatch answers a batch with true answers to other steps.
func TestForeignBatch(t *testing.T) {
	t.Parallel()
	d, l := newDaemon(t), new(liar)
	c := d.client(l.between, nil)
	ctx := client.FirstTried(t.Context(), d.start)
	var other []byte
	l.tell("/batch", func(b []byte) []byte { other = slices.Clone(b); return b })
	_, err := c.Batch(ctx, handOf("t", "k", 0), false)
	check(err)
	for name, steps := range map[string][]client.Step{
		"another table": handOf("u", "k", 0), "another key": handOf("t", "l", 0),
		"another hand": append(handOf("t", "k", 0)[:3], client.Step{From: 0, Request: client.DealRequest{First: 5,
			Runs: []client.Run{{Count: 2, Purpose: client.PurposeBoard}}, Close: &completed}}),
	} {
		l.tell("/batch", func([]byte) []byte { return other })
		_, err := c.Batch(ctx, steps, false)
		isFault(t, name, err, "")
	}
	// A commit is said to be refused, and what is of it answered.
	refused := result{409, []byte(`{"type":"x","title":"x","status":409,"code":"slot"}`), 0}
	l.tell("/batch", func([]byte) []byte { return withResult(t, other, 0, refused) })
	_, err = c.Batch(ctx, handOf("t", "k", 0), false)
	isFault(t, "an answer about a shuffle that was refused", err, "the commit that it is of was refused")
	l.forge = true
	_, err = c.Batch(ctx, handOf("t", "k", 0)[:2], true)
	isFault(t, "a longer answer", err, "2 steps were asked for")
}

// result is the answer to one step.
type result struct {
	Status     int             `json:"status"`
	Body       json.RawMessage `json:"body"`
	RetryAfter int             `json:"retry_after,omitempty"`
}

// withResult returns an answer with another result in place of one.
func withResult(t *testing.T, answer []byte, at int, r result) []byte {
	t.Helper()
	var all struct {
		Results []result `json:"results"`
	}
	check(json.Unmarshal(answer, &all))
	all.Results[at] = r
	b, err := json.Marshal(all)
	check(err)
	return b
}

// TestBatchAgain: a batch whose answer is lost, or of which steps are refused for now, is
// asked for again as a whole, and what was done is not done twice.
func TestBatchAgain(t *testing.T) {
	t.Parallel()
	d := newDaemon(t)
	problem := func(code string) result {
		return result{503, fmt.Appendf(nil, `{"type":"x","title":"x","status":503,"code":"%s"}`, code), 1}
	}
	steps := handOf("t", client.NewKey(), 0)
	for name, c := range map[string]struct {
		first func(w http.ResponseWriter, r *http.Request, h http.Handler)
		fault string
	}{
		"lost answer":    {troubles["lost answer"], ""},
		"cut answer":     {troubles["cut answer"], ""},
		"lost request":   {troubles["lost request"], ""},
		"overloaded":     {troubles["overloaded"], ""},
		"outcome open":   {step(t, 3, problem("outcome_unknown")), ""},
		"done, not said": {step(t, 3, problem("overloaded")), "before this client asked for it"},
	} {
		steps := slices.Clone(steps)
		steps[0].Key = client.NewKey()
		before, calls := d.ledger.Live().Size, 0
		cl := d.client(func(h http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if calls++; calls == 1 {
					c.first(w, r, h)
					return
				}
				h.ServeHTTP(w, r)
			})
		}, func(cfg *client.Config) { cfg.Attempts = 3 })
		done, err := cl.Batch(t.Context(), steps, false)
		if c.fault != "" {
			isFault(t, name, err, c.fault)
			continue
		}
		if err != nil || calls != 2 || d.ledger.Live().Size-before != 5 {
			t.Errorf("%s: %v after %d calls and %d entries", name, err, calls, d.ledger.Live().Size-before)
			continue
		}
		for i, s := range done {
			if s.Err != nil || s.Shuffle == nil {
				t.Errorf("%s: step %d: %v", name, i, s.Err)
			}
		}
	}
	// What stays open is said to be.
	cl := d.client(func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			step(t, 3, result{503, problem("outcome_unknown").Body, 0})(w, r, h)
		})
	}, nil)
	done, err := cl.Batch(t.Context(), handOf("t", client.NewKey(), 0), false)
	if err != nil || !client.Unknown(done[3].Err) || done[2].Err != nil {
		t.Errorf("an open step: %v", err)
	}
}

// step has the daemon do a batch, and answers another result to one step.
func step(t *testing.T, at int, r result) func(w http.ResponseWriter, r *http.Request, h http.Handler) {
	return func(w http.ResponseWriter, req *http.Request, h http.Handler) {
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, req)
		w.Header().Set("Content-Type", "application/json")
		w.Write(withResult(t, rec.Body.Bytes(), at, r))
	}
}

// TestBatchAllOrNone: nothing is done if one step is refused, and a batch of two rounds is refused whole.
func TestBatchAllOrNone(t *testing.T) {
	t.Parallel()
	d := newDaemon(t)
	c := d.client(nil, nil)
	before := d.ledger.Live().Size
	_, err := c.Batch(t.Context(), handOf("t", "k", 0), true)
	isRefused(t, "a hand", err, client.CodeAllOrNone)
	two := []client.Step{{Key: "a", Request: shortDeck},
		{Key: "b", Request: client.DrawsRequest{Table: "d", Ranges: []uint32{6},
			GameRef: ptr(strings.Repeat("x", 300))}}}
	done, err := c.Batch(t.Context(), two, true)
	if err != nil || done[0].Shuffle != nil {
		t.Fatalf("%+v, %v", done, err)
	}
	isRefused(t, "the good one", done[0].Err, client.CodeAllOrNone)
	if got := d.ledger.Live().Size; got != before {
		t.Errorf("%d entries were written for nothing", got-before)
	}
	two[1].Request = client.DrawsRequest{Table: "d", Ranges: []uint32{6}}
	if done, err = c.Batch(t.Context(), two, true); err != nil || done[0].Err != nil || done[1].Err != nil {
		t.Errorf("%+v, %v", done, err)
	}
	half := step(t, 1, result{409, []byte(`{"type":"x","title":"x","status":409,"code":"all_or_none"}`), 0})
	liar := d.client(func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { half(w, r, h) })
	}, nil)
	two[0].Key, two[1].Key = client.NewKey(), client.NewKey()
	_, err = liar.Batch(t.Context(), two, true)
	isFault(t, "one of two", err, "some of the steps were done")
}

// TestBadSteps are refused before anything is sent.
func TestBadSteps(t *testing.T) {
	t.Parallel()
	c := newDaemon(t).client(func(http.Handler) http.Handler {
		return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("%s was sent", r.URL) })
	}, nil)
	commit := client.Step{Key: "k", Request: shortDeck}
	for says, steps := range map[string][]client.Step{
		"step 1 of the batch has no request":            {commit, {}},
		"of an earlier step, and not of step 1":         {commit, {From: 1, Request: twoSeats}},
		"step 0 of the batch is of a shuffle":           {{Request: twoSeats}},
		"of that of an earlier step, and not of step -": {commit, {From: -1, Request: completed}},
	} {
		if _, err := c.Batch(t.Context(), steps, false); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, and not %q", err, says)
		}
	}
}

// TestWitnessedBatch: what the quorum saw before it was dealt is taken, and what it saw later is not.
func TestWitnessedBatch(t *testing.T) {
	t.Parallel()
	d := newDaemonWith(t, setting{witnesses: 1})
	done, err := d.client(nil, d.witnessed).Batch(t.Context(), handOf("t", "k", 0), false)
	if err != nil || done[3].Deal == nil {
		t.Errorf("%+v, %v", done, err)
	}
	d = newDaemonWith(t, setting{witnesses: 1, late: true})
	late := d.client(func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			batch := strings.HasSuffix(r.URL.Path, "/batch")
			d.witnesses[0].Down(batch)
			h.ServeHTTP(w, r)
		})
	}, d.witnessed)
	for i := range 5 { // a question that was under way before may still be answered
		_, err = late.Batch(t.Context(), handOf("t", fmt.Sprint("k", i), 0), false)
		if errors.Is(err, client.ErrNotWitnessed) {
			return
		}
		must(t, err)
	}
	t.Error("no hand was dealt before the witness saw it")
}
