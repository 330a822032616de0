package httpapi

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// never is later than any test.
var never = time.Now().AddDate(100, 0, 0)

// office is a fair queue in a bubble, with what it did in order.
type office struct {
	*fairQueue[string]
	served []string
	ended  int // of served, from the front
}

// arrive lets a request for key wait, or work until it is told to leave, and returns when that is settled.
func (o *office) arrive(ctx context.Context, key string) (refused bool) {
	over := false
	go func() {
		if o.enter(ctx, key, never) {
			o.served = append(o.served, key)
		} else {
			over = true
		}
	}()
	synctest.Wait()
	return over
}

// next ends the request that was served first of those that still work, so that another gets its place.
func (o *office) next() {
	o.leave(o.served[o.ended][:1])
	o.ended++
	synctest.Wait()
}

func TestFairQueueAlternate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const crowd = 10_000
		o := &office{fairQueue: newFairQueue[string](1, crowd)}
		o.arrive(t.Context(), "a") // works
		for range crowd {
			go func() {
				if !o.enter(t.Context(), "a", never) {
					t.Error("refused")
				}
				o.served = append(o.served, "a") // one place: one at a time
				o.leave("a")
			}()
		}
		synctest.Wait()
		if n := o.waiting("a"); n != crowd {
			t.Fatalf("%d wait", n)
		}
		for i := range 3 {
			go func() {
				if o.enter(t.Context(), "b", never) {
					o.served = append(o.served, fmt.Sprint("b", i))
					o.leave("b")
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
	if o.free != places || len(o.held) != 0 || len(o.lines) != 0 || o.round.Len() != 0 {
		t.Errorf("%d places are free, %d lines, %d in the round", o.free, len(o.lines), o.round.Len())
	}
}

// TestFairQueueOrder: within a ledger the first to come is the first to be served,
// and with many ledgers none has two turns before another has one.
func TestFairQueueOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &office{fairQueue: newFairQueue[string](1, 100)}
		o.arrive(t.Context(), "x")
		for _, who := range []string{"a0", "a1", "a2", "b0", "c0", "b1", "a3", "d0"} {
			go func() {
				if o.enter(t.Context(), who[:1], never) {
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

// TestFairQueueBound: a full line refuses at once, and is nothing to another ledger.
func TestFairQueueBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &office{fairQueue: newFairQueue[string](4, 3)} // two of them for each
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
		for range 2 {
			if o.arrive(ctx, "b") {
				t.Error("a request of b was refused")
			}
		}
		if o.waiting("a") != 3 || o.waiting("b") != 1 || o.waiting("c") != 0 {
			t.Errorf("%d and %d wait", o.waiting("a"), o.waiting("b"))
		}
		cancel()
		synctest.Wait()
		o.next()
		o.next()
		o.next()
		o.settled(t, 4)
	})
}

// TestFairQueueCancelled: who gives up leaves the line, wherever in it, and the others go on.
func TestFairQueueCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &office{fairQueue: newFairQueue[string](1, 100)}
		o.arrive(t.Context(), "x")
		cancels := map[string]context.CancelFunc{}
		var left []string
		for _, who := range []string{"a0", "a1", "a2", "b0", "c0"} {
			ctx, cancel := context.WithCancel(t.Context())
			cancels[who] = cancel
			defer cancel()
			go func() {
				if o.enter(ctx, who[:1], never) {
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

// TestFairQueueShare: requests that hang at one ledger, or at several, leave places to
// the others, and a place is nobody's while a ledger that may have it waits.
func TestFairQueueShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &office{fairQueue: newFairQueue[string](60, 1000)}
		for _, key := range []string{"a", "b", "c"} {
			for range 100 {
				o.arrive(t.Context(), key) // and hangs
			}
		}
		held := func(key string) int { return o.held[key] }
		if held("a") != 30 || held("b") != 15 || held("c") != 8 || o.free != 7 {
			t.Errorf("%d, %d and %d are held, %d free", held("a"), held("b"), held("c"), o.free)
		}
		for i := range 4 {
			if o.arrive(t.Context(), "d"); held("d") != i+1 {
				t.Errorf("request %d of a ledger that works waits", i)
			}
		}
		for range 10_000 {
			o.leave("d") // one ends, the next comes
			if o.arrive(t.Context(), "d"); held("d") != 4 {
				t.Fatalf("%d of a ledger that works are held", held("d"))
			}
		}
		// Those that hung are gone: everybody gets on.
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		for held("a") > 0 {
			o.leave("a")
			synctest.Wait()
			if o.free > held("b") && o.waiting("b") > 0 || o.free > held("c") && o.waiting("c") > 0 {
				t.Fatalf("%d places are free, b holds %d and c %d", o.free, held("b"), held("c"))
			}
			if o.waiting("a") == 0 && o.waiting("b") == 0 && o.waiting("c") == 0 {
				break
			}
		}
		for _, key := range []string{"a", "b", "c", "d"} {
			for held(key) > 0 {
				o.leave(key)
				synctest.Wait()
			}
		}
		if o.arrive(ctx, "a"); held("a") != 1 {
			t.Error("a place that is free is not given")
		}
		o.leave("a")
		o.settled(t, 60)
	})
}

// TestFairQueueDeadline: who waits is refused when its deadline ends, long before the request does.
func TestFairQueueDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &office{fairQueue: newFairQueue[string](1, 100)}
		o.arrive(t.Context(), "x")
		start := time.Now()
		if o.enter(t.Context(), "a", start.Add(time.Second)) || time.Since(start) != time.Second {
			t.Errorf("it waited %v", time.Since(start))
		}
		o.next()
		o.settled(t, 1)
	})
}

// TestFairQueueTimeout: nobody waits longer than a request may take.
func TestFairQueueTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &office{fairQueue: newFairQueue[string](1, 100)}
		o.arrive(t.Context(), "x")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if o.enter(ctx, "a", never) {
			t.Error("a place that is taken")
		}
		o.next()
		o.settled(t, 1)
	})
}

// TestFairQueuePassOn: a place that was granted to somebody who gave up in the same
// instant goes to the next and is not lost.
func TestFairQueuePassOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &office{fairQueue: newFairQueue[string](1, 100)}
		o.arrive(t.Context(), "x")
		ctx, cancel := context.WithCancel(t.Context())
		late := make(chan bool, 1)
		go func() { late <- o.enter(ctx, "a", never) }()
		synctest.Wait()
		o.arrive(t.Context(), "b")
		o.mu.Lock()
		cancel()       // wakes the one who waits, who cannot get on
		o.pass("x", 1) // and is the next to have a place
		o.ended++
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
