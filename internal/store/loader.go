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
const maxQuestions = 2

// maxWaiting is how many questions wait at most. Without a bound they could grow: one waits also when its callers left.
const maxWaiting = 64

// key is that of a look-up in a ledger: a key tag, or the id of a shuffle.
type key struct {
	of  ledger.ID
	tag [32]byte
	id  uint64
}

// loader is a batch loader: it finds rows in the database by keys. Keys of any ledgers that come while the
// database is busy go together into the next question. So many requests share a round trip, and none waits for a timer.
// A question that fails is asked again for each of its ledgers, so that none sees the fault of another.
//
// A question has a time limit of its own, so that it does not fail for the other callers when one of them leaves. A
// goroutine ends when no question waits.
type loader struct {
	most int // keys in one question
	ask  func(context.Context, []key) (map[key][]ledger.Row, error)

	mu      sync.Mutex
	asking  int     // goroutines that run
	waiting []*load // to be asked, the oldest first
}

// load is one question. found and failed are written before done is closed, and do not change after that: several
// callers may read them.
type load struct {
	ctx    context.Context // detached from the first of its callers, who are all readers or all not
	keys   map[key]bool
	done   chan struct{}
	found  map[key][]ledger.Row
	failed map[ledger.ID]error
}

// find returns the rows of keys of one ledger, of those that have some. One key goes to the database after find was
// called, with those of others, who also read its rows. Several are a listing, and a question of their own.
func (l *loader) find(ctx context.Context, keys ...key) (map[key][]ledger.Row, error) {
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
	return q.found, q.failed[keys[0].of]
}

// join adds a key to a question that is not asked yet.
func (l *loader) join(ctx context.Context, k key) (*load, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.waiting)
	if n == 0 || len(l.waiting[n-1].keys) == l.most {
		if n == maxWaiting {
			return nil, fmt.Errorf("%w: the store does not answer", ledger.ErrOverloaded)
		}
		l.waiting = append(l.waiting, &load{
			ctx: ledger.Detached(ctx), keys: make(map[key]bool), done: make(chan struct{})})
		n++
	}
	q := l.waiting[n-1]
	q.keys[k] = true
	if l.asking < maxQuestions {
		l.asking++
		go l.run()
	}
	return q, nil
}

func (l *loader) run() {
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

func (l *loader) answer(q *load) {
	defer close(q.done)
	ctx, cancel := context.WithTimeout(q.ctx, loadTimeout)
	defer cancel()
	found, err := l.ask(ctx, slices.Collect(maps.Keys(q.keys)))
	if err == nil {
		q.found = found
		return
	}
	of := make(map[ledger.ID][]key)
	for k := range q.keys {
		of[k.of] = append(of[k.of], k)
	}
	q.found, q.failed = make(map[key][]ledger.Row), make(map[ledger.ID]error)
	for id, keys := range of {
		if q.failed[id] = err; len(of) > 1 && ctx.Err() == nil {
			found, q.failed[id] = l.ask(ctx, keys)
			maps.Copy(q.found, found)
		}
	}
}
