package httpapi

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// office is a turns in a bubble, with what it did in order.
type office struct {
	*turns[string]
	served []string
}

// arrive lets a request for key wait, or work until it is told to leave, and
// returns when that is settled.
func (o *office) arrive(ctx context.Context, key string) (refused bool) {
	over := false
	go func() {
		if o.enter(ctx, key) {
			o.served = append(o.served, key)
		} else {
			over = true
		}
	}()
	synctest.Wait()
	return over
}

// next ends one request, so that another gets its place.
func (o *office) next() {
	o.leave()
	synctest.Wait()
}

func TestTurnsAlternate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const crowd = 10_000
		o := &office{turns: newTurns[string](1, crowd)}
		o.arrive(t.Context(), "a") // works
		for range crowd {
			go func() {
				if !o.enter(t.Context(), "a") {
					t.Error("refused")
				}
				o.served = append(o.served, "a") // one place: one at a time
				o.leave()
			}()
		}
		synctest.Wait()
		if n := o.waiting("a"); n != crowd {
			t.Fatalf("%d wait", n)
		}
		for i := range 3 {
			go func() {
				if o.enter(t.Context(), "b") {
					o.served = append(o.served, fmt.Sprint("b", i))
					o.leave()
				}
			}()
			synctest.Wait()
		}
		o.next()
		// The crowd was first; from then on each has every other turn.
		if got := o.served[1:7]; !slices.Equal(got, []string{"a", "b0", "a", "b1", "a", "b2"}) {
			t.Errorf("served %v", got)
		}
		if len(o.served) != crowd+4 {
			t.Errorf("%d served", len(o.served))
		}
		o.settled(t, 1)
	})
}

// settled wants all places free and nobody remembered.
func (o *office) settled(t *testing.T, places int) {
	t.Helper()
	if o.free != places || len(o.lines) != 0 || o.round.Len() != 0 {
		t.Errorf("%d places are free, %d lines, %d in the round", o.free, len(o.lines), o.round.Len())
	}
}

// TestTurnsOrder: within a ledger the first to come is the first to be served,
// and with many ledgers none has two turns before another has one.
func TestTurnsOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &office{turns: newTurns[string](1, 100)}
		o.arrive(t.Context(), "x")
		for _, who := range []string{"a0", "a1", "a2", "b0", "c0", "b1", "a3", "d0"} {
			go func() {
				if o.enter(t.Context(), who[:1]) {
					o.served = append(o.served, who)
				}
			}()
			synctest.Wait()
		}
		for range 8 {
			o.next()
		}
		want := []string{"x", "a0", "b0", "c0", "d0", "a1", "b1", "a2", "a3"}
		if !slices.Equal(o.served, want) {
			t.Errorf("served %v, not %v", o.served, want)
		}
		o.next()
		o.settled(t, 1)
	})
}

// TestTurnsBound: a full line refuses at once, and is nothing to another ledger.
func TestTurnsBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &office{turns: newTurns[string](2, 3)}
		ctx, cancel := context.WithCancel(t.Context())
		for i := range 2 + 3 {
			if o.arrive(ctx, "a") {
				t.Fatalf("request %d was refused", i)
			}
		}
		start := time.Now()
		if !o.arrive(ctx, "a") || time.Since(start) != 0 {
			t.Error("a full line took one more, or not at once")
		}
		if o.arrive(ctx, "b") || o.waiting("a") != 3 || o.waiting("b") != 1 || o.waiting("c") != 0 {
			t.Errorf("%d and %d wait", o.waiting("a"), o.waiting("b"))
		}
		cancel()
		synctest.Wait()
		o.next()
		o.next()
		o.settled(t, 2)
	})
}

// TestTurnsCancelled: who gives up leaves the line, wherever in it, and the
// others go on.
func TestTurnsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &office{turns: newTurns[string](1, 100)}
		o.arrive(t.Context(), "x")
		cancels := map[string]context.CancelFunc{}
		var left []string
		for _, who := range []string{"a0", "a1", "a2", "b0", "c0"} {
			ctx, cancel := context.WithCancel(t.Context())
			cancels[who] = cancel
			defer cancel()
			go func() {
				if o.enter(ctx, who[:1]) {
					o.served = append(o.served, who)
				} else {
					left = append(left, who)
				}
			}()
			synctest.Wait()
		}
		for _, who := range []string{"a1", "b0", "a0"} {
			cancels[who]()
			synctest.Wait()
		}
		if !slices.Equal(left, []string{"a1", "b0", "a0"}) || o.waiting("a") != 1 || o.waiting("b") != 0 {
			t.Errorf("%v left, %d and %d wait", left, o.waiting("a"), o.waiting("b"))
		}
		o.next()
		o.next()
		if !slices.Equal(o.served, []string{"x", "a2", "c0"}) {
			t.Errorf("served %v", o.served)
		}
		o.next()
		o.settled(t, 1)
	})
}

// TestTurnsTimeout: nobody waits longer than a request may take.
func TestTurnsTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &office{turns: newTurns[string](1, 100)}
		o.arrive(t.Context(), "x")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if o.enter(ctx, "a") {
			t.Error("a place that is taken")
		}
		o.next()
		o.settled(t, 1)
	})
}

// TestTurnsPassOn: a place that was granted to somebody who gave up in the same
// instant goes to the next and is not lost.
func TestTurnsPassOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &office{turns: newTurns[string](1, 100)}
		o.arrive(t.Context(), "x")
		ctx, cancel := context.WithCancel(t.Context())
		late := make(chan bool, 1)
		go func() { late <- o.enter(ctx, "a") }()
		synctest.Wait()
		o.arrive(t.Context(), "b")
		o.mu.Lock()
		cancel() // wakes the one who waits, who cannot get on
		o.pass() // and is the next to have a place
		o.mu.Unlock()
		if <-late {
			t.Error("a place for somebody who gave up")
		}
		synctest.Wait()
		if !slices.Equal(o.served, []string{"x", "b"}) {
			t.Errorf("served %v", o.served)
		}
		o.next()
		o.settled(t, 1)
	})
}
