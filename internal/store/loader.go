package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"shuffled/internal/ledger"
)

// How many keys one question has at most, and how long it may take. A shuffle has many rows, and the rows of all
// shuffles in a question are in memory at once.
const (
	maxKeyTags  = 1024
	maxShuffles = 64
	loadTimeout = 10 * time.Second
)

// maxQuestions is how many questions are at the database at a time. With one, a slow question would hold up all
// callers; with many, callers would share few questions.
const maxQuestions = 4

// maxWaiting is how many questions wait at most. Without a bound they could grow, because a question waits also when
// its callers have left.
const maxWaiting = 64

// keyed is a key of a look-up in one ledger.
type keyed interface {
	comparable
	in() ledger.ID
}

// loader is a batch loader: it finds values in the database by their keys. Keys of any ledgers that come while the
// database is busy go together into the next question. So many requests share a round trip, and none waits for a timer.
// A question that fails is asked again for each of its ledgers, so that none sees the fault of another.
//
// A question has a time limit of its own, so that it does not fail for the other callers when one of them leaves. A
// goroutine ends when no question waits.
type loader[K keyed, V any] struct {
	most int // keys in one question
	ask  func(context.Context, []K) (map[K]V, error)

	mu      sync.Mutex
	asking  int           // goroutines that run
	waiting []*load[K, V] // to be asked, the oldest first
}

// load is one question. found and failed are written before done is closed, and do not change after that: several
// callers may read them.
type load[K keyed, V any] struct {
	ctx    context.Context // detached from the first of its callers, who are all readers or all not
	keys   map[K]bool
	done   chan struct{}
	found  map[K]V
	failed map[ledger.ID]error
}

// find returns the values of keys of one ledger, of those that have one. One key goes to the database after find was
// called, with those of others, who also read its value. Several are a listing, and a question of their own.
func (l *loader[K, V]) find(ctx context.Context, keys ...K) (map[K]V, error) {
	if len(keys) != 1 {
		return l.ask(ctx, keys)
	}
	q, err := l.join(ctx, keys[0])
	if err == nil {
		_, err = ledger.Await(ctx, q.done, "the store does not answer")
	}
	if err != nil {
		return nil, err
	}
	ledger.Began(ctx)
	return q.found, q.failed[keys[0].in()]
}

// join adds a key to a question that is not asked yet.
func (l *loader[K, V]) join(ctx context.Context, key K) (*load[K, V], error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.waiting)
	if n == 0 || len(l.waiting[n-1].keys) == l.most {
		if n == maxWaiting {
			return nil, fmt.Errorf("%w: the store does not answer", ledger.ErrOverloaded)
		}
		l.waiting = append(l.waiting, &load[K, V]{
			ctx: ledger.Detached(ctx), keys: make(map[K]bool), done: make(chan struct{})})
		n++
	}
	q := l.waiting[n-1]
	q.keys[key] = true
	if l.asking < maxQuestions {
		l.asking++
		go l.run()
	}
	return q, nil
}

func (l *loader[K, V]) run() {
	for {
		l.mu.Lock()
		if len(l.waiting) == 0 {
			l.asking--
			l.mu.Unlock()
			return
		}
		q := l.waiting[0]
		l.waiting = l.waiting[1:]
		l.mu.Unlock()
		l.answer(q)
	}
}

func (l *loader[K, V]) answer(q *load[K, V]) {
	defer close(q.done)
	ctx, cancel := context.WithTimeout(q.ctx, loadTimeout)
	defer cancel()
	found, err := l.ask(ctx, slices.Collect(maps.Keys(q.keys)))
	if err == nil {
		q.found = found
		return
	}
	of := make(map[ledger.ID][]K)
	for k := range q.keys {
		of[k.in()] = append(of[k.in()], k)
	}
	q.found, q.failed = make(map[K]V), make(map[ledger.ID]error)
	for id, keys := range of {
		if q.failed[id] = err; len(of) > 1 && ctx.Err() == nil {
			found, q.failed[id] = l.ask(ctx, keys)
			maps.Copy(q.found, found)
		}
	}
}
