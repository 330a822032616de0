package record

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"shuffled/internal/ledger"
)

// How many keys one question has at most, and how long it may take. A shuffle has many rows, and
// the rows of all shuffles in a question are in memory at once.
const (
	maxKeyTags  = 1024
	maxShuffles = 64
	loadTimeout = 10 * time.Second
)

// maxQuestions is how many questions are at the store at a time. With one, a slow question would
// hold up all callers; with many, callers would share few questions.
const maxQuestions = 2

// maxWaiting is how many questions wait at most. Without a bound they could grow, because a
// question waits also when its callers have left.
const maxWaiting = 64

// loader is a batch loader: it finds values in the store by their keys. Keys that come while the store is busy go
// together into the next question. So many requests share a round trip, and none waits for a timer.
//
// A question has a time limit of its own, so that it does not fail for the other callers when one
// of them leaves. A goroutine ends when no question waits.
type loader[K comparable, V any] struct {
	most int // keys in one question
	ask  func(context.Context, []K) (map[K]V, error)

	mu      sync.Mutex
	asking  int           // goroutines that run
	waiting []*load[K, V] // to be asked, the oldest first
}

// load is one question. found and err are written before done is closed, and do not change after
// that: several callers may read them.
type load[K comparable, V any] struct {
	ctx   context.Context // detached from the first of its callers, who are all readers or all not
	keys  []K
	done  chan struct{}
	found map[K]V
	err   error
}

// shuffles finds the rows of shuffles by id: a dealer's question does not wait for what a stranger asks.
type shuffles = ledger.Apart[*loader[uint64, []ledger.Row]]

// shuffleLoader finds the rows of shuffles by id.
func shuffleLoader(store ledger.Store, id ledger.ID, s ledger.Standing) *loader[uint64, []ledger.Row] {
	return &loader[uint64, []ledger.Row]{most: maxShuffles,
		ask: func(ctx context.Context, ids []uint64) (map[uint64][]ledger.Row, error) {
			slices.Sort(ids)
			ids = slices.Compact(ids)
			list, err := store.ByShuffles(ctx, id, s, ids...)
			if err != nil {
				return nil, err
			}
			found := make(map[uint64][]ledger.Row, len(ids))
			for i, rows := range list {
				if len(rows) > 0 {
					found[ids[i]] = rows
				}
			}
			return found, nil
		}}
}

// find returns the value of a key, ledger.ErrNotFound if there is none. The question goes to the
// store after find was called.
func (l *loader[K, V]) find(ctx context.Context, key K) (v V, err error) {
	q, err := l.join(ctx, key)
	if err != nil {
		return v, err
	}
	if _, err := ledger.Await(ctx, q.done, "the store does not answer"); err != nil {
		return v, err
	}
	ledger.Began(ctx)
	v, ok := q.found[key]
	if q.err == nil && !ok {
		return v, ledger.ErrNotFound
	}
	return v, q.err
}

// join adds the key to a question that is not asked yet.
func (l *loader[K, V]) join(ctx context.Context, key K) (*load[K, V], error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.waiting)
	if n == 0 || len(l.waiting[n-1].keys) == l.most {
		if n == maxWaiting {
			return nil, fmt.Errorf("%w: the store does not answer", ledger.ErrOverloaded)
		}
		l.waiting = append(l.waiting, &load[K, V]{ctx: ledger.Detached(ctx), done: make(chan struct{})})
		n++
	}
	q := l.waiting[n-1]
	q.keys = append(q.keys, key)
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
	q.found, q.err = l.ask(ctx, q.keys)
}

// commitLoader finds commits by key tag.
func commitLoader(store ledger.Store, id ledger.ID) *loader[[32]byte, ledger.Row] {
	return &loader[[32]byte, ledger.Row]{most: maxKeyTags,
		ask: func(ctx context.Context, tags [][32]byte) (map[[32]byte]ledger.Row, error) {
			rows, err := store.ByKeyTags(ctx, id, tags...)
			if err != nil || len(rows) == 0 {
				return nil, err
			}
			found := make(map[[32]byte]ledger.Row, len(rows))
			for _, row := range rows {
				found[row.KeyTag] = row
			}
			return found, nil
		}}
}
