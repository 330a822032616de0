package dealer

import (
	"context"
	"sync"
	"time"

	"shuffled/internal/ledger"
)

// How many key tags one look-up asks for, and how long it may take.
const (
	maxLookup     = 1024
	lookupTimeout = 10 * time.Second
)

// lookups finds commits by their key tags. The tags that come while the store is
// asked are its next question, so that many requests share a round trip and none
// waits for a timer.
//
// A question has a time limit of its own: who asked and has left makes it fail for
// nobody. Its goroutine ends when there is nothing more to ask.
type lookups struct {
	store  ledger.Store
	ledger ledger.ID

	mu      sync.Mutex
	asking  bool      // the goroutine runs
	waiting []*lookup // to be asked, the oldest first
}

// lookup is one question. What it found is written before done is closed.
type lookup struct {
	tags [][32]byte
	done chan struct{}
	rows map[[32]byte]ledger.Row
	err  error
}

// commit returns the stored commit with the key tag; ledger.ErrNotFound for none.
// The store was asked after commit was called.
func (l *lookups) commit(ctx context.Context, tag [32]byte) (ledger.Row, error) {
	q := l.join(tag)
	select {
	case <-q.done:
	case <-ctx.Done():
		return ledger.Row{}, ctx.Err()
	}
	if q.err != nil {
		return ledger.Row{}, q.err
	}
	row, ok := q.rows[tag]
	if !ok {
		return ledger.Row{}, ledger.ErrNotFound
	}
	return row, nil
}

// join adds the tag to a question that is not asked yet.
func (l *lookups) join(tag [32]byte) *lookup {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.waiting)
	if n == 0 || len(l.waiting[n-1].tags) == maxLookup {
		l.waiting = append(l.waiting, &lookup{done: make(chan struct{})})
		n++
	}
	q := l.waiting[n-1]
	q.tags = append(q.tags, tag)
	if !l.asking {
		l.asking = true
		go l.ask()
	}
	return q
}

func (l *lookups) ask() {
	for {
		l.mu.Lock()
		if len(l.waiting) == 0 {
			l.asking = false
			l.mu.Unlock()
			return
		}
		q := l.waiting[0]
		l.waiting = l.waiting[1:]
		l.mu.Unlock()
		l.answer(q)
	}
}

func (l *lookups) answer(q *lookup) {
	defer close(q.done)
	ctx, cancel := context.WithTimeout(context.Background(), lookupTimeout)
	defer cancel()
	rows, err := l.store.ByKeyTags(ctx, l.ledger, q.tags...)
	if q.err = err; len(rows) == 0 {
		return
	}
	q.rows = make(map[[32]byte]ledger.Row, len(rows))
	for _, row := range rows {
		q.rows[row.KeyTag] = row
	}
}
