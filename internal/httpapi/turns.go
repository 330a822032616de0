package httpapi

import (
	"container/list"
	"context"
	"sync"
)

// turns lets a number of requests work on ledgers at a time. The others wait,
// those of each ledger in a line of their own, and whenever a place is free it
// goes to the next ledger in turn: a ledger that many wait for costs another no
// more than one turn. Safe for concurrent use.
type turns[K comparable] struct {
	most int // requests that may wait in one line

	mu    sync.Mutex
	free  int         // places; above 0 only while nobody waits
	lines map[K]*line // those in which somebody waits, and no other
	round list.List   // of K: the keys of lines, the next to have its turn first
}

// line are the requests that wait for one ledger.
type line struct {
	waiting list.List // of *waiter, the first to come first
	place   *list.Element
}

// waiter is one request that waits. Granted is closed, under the lock, when it
// has its place.
type waiter struct{ granted chan struct{} }

func newTurns[K comparable](places, most int) *turns[K] {
	return &turns[K]{most: most, free: places, lines: make(map[K]*line)}
}

// enter takes a place for key and reports whether it did: not where the line is
// full, at once, nor where ctx ends while it waits. Who has a place calls leave.
func (t *turns[K]) enter(ctx context.Context, key K) bool {
	t.mu.Lock()
	if t.free > 0 {
		t.free--
		t.mu.Unlock()
		return true
	}
	l := t.lines[key]
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

	select {
	case <-w.granted:
		return true
	case <-ctx.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case <-w.granted: // in this instant: somebody else has use for it
		t.pass()
	default:
		l.waiting.Remove(at)
		t.close(key, l)
	}
	return false
}

// leave gives a place back.
func (t *turns[K]) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pass()
}

// pass hands a place to the first that waits for the next ledger in turn.
func (t *turns[K]) pass() {
	next := t.round.Front()
	if next == nil {
		t.free++
		return
	}
	key := next.Value.(K)
	l := t.lines[key]
	close(l.waiting.Remove(l.waiting.Front()).(*waiter).granted)
	t.round.MoveToBack(next)
	t.close(key, l)
}

// close takes the line of key away if nobody waits in it.
func (t *turns[K]) close(key K, l *line) {
	if l.waiting.Len() == 0 {
		t.round.Remove(l.place)
		delete(t.lines, key)
	}
}

// waiting returns how many wait for key.
func (t *turns[K]) waiting(key K) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l := t.lines[key]; l != nil {
		return l.waiting.Len()
	}
	return 0
}
