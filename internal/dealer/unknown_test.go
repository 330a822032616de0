package dealer_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"shuffled/internal/audit"
	"shuffled/internal/dealer/api"
	"shuffled/internal/ledger"
)

// unanswered is a store that loses its answers to appends while it is armed.
type unanswered struct {
	ledger.Store
	armed   atomic.Bool
	written bool          // the first of them is still written
	tried   chan struct{} // closed when the first has been sent
	once    sync.Once
}

func (u *unanswered) Append(ctx context.Context, id ledger.ID, old ledger.Head, b ledger.Batch) error {
	if !u.armed.Load() {
		return u.Store.Append(ctx, id, old, b)
	}
	var err error
	u.once.Do(func() {
		defer close(u.tried)
		if u.written {
			err = u.Store.Append(ctx, id, old, b)
		}
	})
	if err != nil {
		return err
	}
	return fmt.Errorf("the connection broke: %w", ledger.ErrUnknownOutcome)
}

// request is one that writes entries. made returns it for a table that is ready for it.
type request struct {
	entries int
	made    func(t *testing.T, tb *table) func(context.Context) (any, error)
}

// requests are those of every kind.
func requests() map[string]request {
	type asks = func(context.Context) (any, error)
	req := api.ShuffleRequest{Table: "t", Deck: "standard-52"}
	end := api.CloseRequest{Outcome: audit.OutcomeEndedEarly}
	return map[string]request{
		"commit": {1, func(_ *testing.T, tb *table) asks {
			return func(ctx context.Context) (any, error) { return tb.Shuffle(ctx, as("tester"), "k", req) }
		}},
		"draws": {1, func(_ *testing.T, tb *table) asks {
			return func(ctx context.Context) (any, error) {
				return tb.Draws(ctx, as("tester"), "k", api.DrawsRequest{Table: "t", Ranges: []uint32{1000, 1000}})
			}
		}},
		"child": {2, func(_ *testing.T, tb *table) asks {
			of := child(tb.commit("parent", req).ID)
			return func(ctx context.Context) (any, error) { return tb.Shuffle(ctx, as("tester"), "k", of) }
		}},
		"mix": {1, func(t *testing.T, tb *table) asks {
			planned := req
			planned.Plan = &api.MixPlan{Cut: true}
			id := tb.commit("planned", planned).ID
			return func(ctx context.Context) (any, error) {
				return tb.Mix(ctx, as("tester"), id, api.MixRequest{Cut: num(9)})
			}
		}},
		"deal": {1, func(_ *testing.T, tb *table) asks {
			id := tb.commit("dealt", req).ID
			return func(ctx context.Context) (any, error) {
				return tb.Deal(ctx, as("tester"), id, api.DealRequest{Runs: []audit.Run{seat(2, "a"), board(3)}})
			}
		}},
		"final deal": {2, func(_ *testing.T, tb *table) asks {
			id := tb.commit("dealt", req).ID
			return func(ctx context.Context) (any, error) {
				return tb.Deal(ctx, as("tester"), id, api.DealRequest{Runs: []audit.Run{seat(2, "a")}, Close: &end})
			}
		}},
		"close": {1, func(_ *testing.T, tb *table) asks {
			id := tb.commit("closed", req).ID
			return func(ctx context.Context) (any, error) { return tb.Close(ctx, as("tester"), id, end) }
		}},
	}
}

// TestUnknownOutcome: a request whose outcome nobody can tell is told just that,
// with no card and no tape, whether its caller leaves or the daemon stops first, and
// whether it was written or not. Sent again it is answered, and stands once.
func TestUnknownOutcome(t *testing.T) {
	t.Parallel()
	for name, r := range requests() {
		for _, written := range []bool{false, true} {
			for _, stops := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, written %v, daemon stops %v", name, written, stops), func(t *testing.T) {
					t.Parallel()
					unknownOutcome(t, r, written, stops)
				})
			}
		}
	}
}

func unknownOutcome(t *testing.T, r request, written, stops bool) {
	tb := newTableWith(t, setting{modes: allModes})
	u := &unanswered{Store: tb.cfg.Store, written: written, tried: make(chan struct{})}
	tb.Ledger().Close()
	tb.open.Probe = time.Millisecond
	tb.serve(u, tb.open.Mark)
	send := r.made(t, tb)
	size := len(tb.entries())

	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	type told struct {
		answer any
		err    error
	}
	answered := make(chan told, 1)
	u.armed.Store(true)
	go func() { a, err := send(ctx); answered <- told{a, err} }()
	<-u.tried
	if stops {
		tb.Ledger().Close()
	} else {
		leave()
	}
	a := <-answered
	wantIs(t, "the request", a.err, ledger.ErrUnknownOutcome)
	if !reflect.ValueOf(a.answer).IsZero() {
		t.Errorf("the answer holds %+v", a.answer)
	}

	u.armed.Store(false)
	tb.restart()
	// Events are the daemon's: its start, and on a busy machine an alarm. A daemon that runs
	// on asks the store again, which may then write what it had not.
	stand := withoutEvents(tb.entries()[size:])
	if stops && !written && stand > 0 || written && stand < r.entries {
		t.Errorf("%d entries of the request stand", stand)
	}
	first, err := send(t.Context())
	if err != nil {
		t.Fatalf("sent again: %v", err)
	}
	again, err := send(t.Context())
	if diff := cmp.Diff(first, again, sameAnswer); diff != "" || err != nil {
		t.Errorf("sent a third time: %v %s", err, diff)
	}
	if saysRepeated(t, first) != (stand > 0) || !saysRepeated(t, again) {
		t.Errorf("repeated: %v, and then %v; %d entries stood", saysRepeated(t, first), saysRepeated(t, again), stand)
	}
	if n := withoutEvents(tb.entries()[size:]); n != r.entries {
		t.Errorf("%d entries stand, want %d", n, r.entries)
	}
}

// withoutEvents returns how many of the entries are no events.
func withoutEvents(entries []audit.Entry) int {
	return len(slices.DeleteFunc(entries, func(e audit.Entry) bool { return e.Body.Type() == audit.TypeEvent }))
}

// saysRepeated reports whether an answer says in all its parts that it is repeated.
func saysRepeated(t *testing.T, answer any) bool {
	t.Helper()
	switch a := answer.(type) {
	case api.Shuffle:
		return a.Repeated
	case api.Mix:
		return a.Repeated
	case api.Deal:
		return a.Repeated && (a.Close == nil || a.Close.Repeated)
	case api.Close:
		return a.Repeated
	}
	t.Fatalf("an answer of type %T", answer)
	return false
}
