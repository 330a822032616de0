package httpapi

import (
	"container/list"
	"context"
	"sync"
	"time"
)

// shares gives out places to holders. Each takes one only while it holds fewer
// than are free: k of them, whatever they do, leave a part in k+1 to who comes
// next. Its user locks it.
type shares[K comparable] struct {
	free int
	held map[K]int // above 0
}

func newShares[K comparable](places int) shares[K] {
	return shares[K]{free: places, held: make(map[K]int)}
}

// take takes a place for key, if there is one for it.
func (s *shares[K]) take(key K) bool {
	if s.held[key] >= s.free {
		return false
	}
	s.free--
	s.held[key]++
	return true
}

// give gives a place of key back.
func (s *shares[K]) give(key K) {
	s.free++
	if s.held[key]--; s.held[key] == 0 {
		delete(s.held, key)
	}
}

// turns lets a number of requests work on ledgers at a time, of each ledger its
// share: what hangs at one leaves half of the places to the others. Who finds none
// waits, those of each ledger in a line of their own, and whenever a place is free
// it goes to the next ledger in turn that may have it: a ledger that many wait for
// costs another no more than one turn. Safe for concurrent use.
type turns[K comparable] struct {
	most int // requests that may wait in one line

	mu     sync.Mutex
	places shares[K]
	lines  map[K]*line // those in which somebody waits, and no other
	round  list.List   // of K: the keys of lines, the next to have its turn first
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
	return &turns[K]{most: most, places: newShares[K](places), lines: make(map[K]*line)}
}

// enter takes a place for key and reports whether it did: not where the line is
// full, at once, nor where ctx ends while it waits, or it is later than until. Who
// has a place calls leave.
func (t *turns[K]) enter(ctx context.Context, key K, until time.Time) bool {
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

	patience, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	select {
	case <-w.granted:
		return true
	case <-patience.Done():
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
func (t *turns[K]) leave(key K) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pass(key)
}

// pass hands a place of key on, and any that it sets free with it: to the first
// that waits for the next ledger in turn that may have one.
func (t *turns[K]) pass(key K) {
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
