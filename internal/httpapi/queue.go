package httpapi

import (
	"container/list"
	"context"
	"sync"
	"time"
)

// fairQueue lets a number of requests work at a time, of each key its share: requests
// that hang under one key leave half of the places to the others. The requests of a key
// wait in a line of their own. A free place goes to the next key in turn that may have
// it: a key that many wait for costs another one turn at most. Safe for concurrent use.
type fairQueue[K comparable] struct {
	most int // requests that may wait in one line

	mu     sync.Mutex
	places permits[K]
	lines  map[K]*line // those in which somebody waits, and no other
	round  list.List   // of K: the keys of lines, the next to have its turn first
}

// line are the requests of one key that wait.
type line struct {
	waiting list.List // of *waiter, the first to come first
	place   *list.Element
}

// waiter is one request that waits. Granted is closed, under the lock, when it
// has its place.
type waiter struct{ granted chan struct{} }

func newFairQueue[K comparable](places, most int) *fairQueue[K] {
	return &fairQueue[K]{most: most, places: newPermits[K](places), lines: make(map[K]*line)}
}

// enter takes a place for key and reports whether it did. It fails at once if the line is
// full, and later if ctx or the time until ends first. A caller that has a place calls
// leave.
func (t *fairQueue[K]) enter(ctx context.Context, key K, until time.Time) bool {
	t.mu.Lock()
	l := t.lines[key]
	if l == nil && t.places.take(key) {
		t.mu.Unlock()
		return true
	}
	if l == nil {
		l = new(line)
	}
	if l.waiting.Len() >= t.most {
		t.mu.Unlock()
		return false
	}
	if l.waiting.Len() == 0 {
		t.lines[key] = l
		l.place = t.round.PushBack(key)
	}
	w := &waiter{make(chan struct{})}
	at := l.waiting.PushBack(w)
	t.mu.Unlock()

	waiting, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	select {
	case <-w.granted:
		return true
	case <-waiting.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case <-w.granted: // in this instant: somebody else has use for it
		t.pass(key)
	default:
		l.waiting.Remove(at)
		t.close(key, l)
	}
	return false
}

// leave gives a place of key back.
func (t *fairQueue[K]) leave(key K) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pass(key)
}

// pass hands a place of key on, and any that it sets free with it, to the first request
// in the line of the next key in turn that may have one.
func (t *fairQueue[K]) pass(key K) {
	t.places.give(key)
	for next := t.round.Front(); next != nil; {
		key := next.Value.(K)
		if !t.places.take(key) {
			next = next.Next()
			continue
		}
		l := t.lines[key]
		close(l.waiting.Remove(l.waiting.Front()).(*waiter).granted)
		t.round.MoveToBack(next)
		t.close(key, l)
		next = t.round.Front()
	}
}

// close takes the line of key away if nobody waits in it.
func (t *fairQueue[K]) close(key K, l *line) {
	if l.waiting.Len() == 0 {
		t.round.Remove(l.place)
		delete(t.lines, key)
	}
}

// waiting returns how many wait for key.
func (t *fairQueue[K]) waiting(key K) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l := t.lines[key]; l != nil {
		return l.waiting.Len()
	}
	return 0
}
