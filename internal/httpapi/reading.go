package httpapi

import (
	"container/list"
	"context"
	"net/netip"
	"sync"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/follow"
	"shuffled/internal/ledger"
)

// reader reports whether the call takes a place of readers.
func (c *call) reader() bool {
	deals := c.caller.role == audit.RoleDealer || c.caller.role == audit.RoleAdmin
	return c.price.place == logPlace || c.price.place == readPlace && !deals
}

// readers is what readers share.
type readers struct {
	strangers *fairQueue[netip.Prefix] // at work, also those who do not read their answers; without lines
	reading   *fairQueue[netip.Prefix] // of readers that work
	readBytes *rates[netip.Prefix]     // of answers to strangers
	allBytes  *rates[struct{}]         // of answers to all strangers together
}

// work calls the operation, for a reader in its turn. Readers have places of work, connections to the database and a
// share of bytes of their own, so that dealers notice nothing of them. The readers of all addresses take turns.
func (s *Server) work(c *call) error {
	if !c.reader() {
		return c.route.call(c)
	}
	from := remote(c.r)
	until := c.w.start.Add(s.cfg.Limits.Patience.Duration())
	for {
		if !c.caller.known() && !s.awaitBytes(c, from, until) {
			s.metrics.refuse(c.ledger, refusedBytes)
			return refuse(CodeRateLimited)
		}
		if !s.reading.enter(c.r.Context(), from, until) {
			return s.overloaded(c, refusedReaders)
		}
		// Other readers may have spent the bytes while this one waited for its place.
		if c.caller.known() || s.bytesAfter(from) <= 0 {
			break
		}
		s.reading.leave(from)
	}
	c.computed = func(bytes int) {
		c.computed = nil
		s.reading.leave(from)
		if !c.caller.known() {
			s.spend(c, from, bytes)
		}
	}
	defer func() {
		if c.computed != nil {
			c.computed(0)
		}
	}()
	// It has had its turn: for its questions to the store it has the time of the request.
	ledger.Began(c.r.Context())
	c.r = c.r.WithContext(ledger.AsReader(c.r.Context()))
	return c.route.call(c)
}

// catchUp returns what a follower asks before it reads old entries: it waits for a place of readers, as any other
// reader does, and a page counts as a request of its token.
func (s *Server) catchUp(c *call, key tokenKey) follow.Turn {
	from := remote(c.r)
	return func(ctx context.Context) (func(), error) {
		if !ledger.Sleep(ctx, s.tokenRates.after(key, s.cfg.Now()), nil) {
			return nil, ctx.Err()
		}
		if !s.reading.enter(ctx, from, time.Now().Add(heartbeat)) {
			<-ctx.Done() // the line is full: the heartbeat goes on
			return nil, ctx.Err()
		}
		s.tokenRates.spend(key, 1, s.cfg.Now())
		return func() { s.reading.leave(from) }, nil
	}
}

// bytesPerRead is how many bytes of an answer count as one more read: an answer that takes long to compute is long.
const bytesPerRead = 64 << 10

// spend counts an answer to a stranger against the bytes of its address and of all strangers.
func (s *Server) spend(c *call, from netip.Prefix, bytes int) {
	now := s.cfg.Now()
	s.readBytes.spend(from, bytes, now)
	s.allBytes.spend(struct{}{}, bytes, now)
	s.rates[c.price.rate].spend(from, bytes/bytesPerRead, now)
}

// bytesAfter returns in what time a stranger may be given more bytes; 0 or less: now.
func (s *Server) bytesAfter(from netip.Prefix) time.Duration {
	now := s.cfg.Now()
	return max(s.readBytes.after(from, now), s.allBytes.after(struct{}{}, now))
}

// awaitBytes waits until a stranger may be given more bytes, and reports whether it may. A stranger that asks for more
// than its share is not refused at once: it would ask again at once.
func (s *Server) awaitBytes(c *call, from netip.Prefix, until time.Time) bool {
	for wait := s.bytesAfter(from); wait > 0; wait = s.bytesAfter(from) {
		left := time.Until(until)
		if left <= 0 || !ledger.Sleep(c.r.Context(), min(wait, left), nil) {
			return false
		}
	}
	return true
}

// fairQueue gives out a number of places, of each key its share. A key takes a place only while it
// holds fewer than are free, so that k keys, whatever they do, leave a part in k+1 to the next one: no
// number of fixed shares does that, and no semaphore of x/sync.
//
// The requests of a key wait in a line of their own. A free place goes to the next key in turn that
// may have it: a key that many wait for costs another one turn at most. A queue whose lines are of
// length 0 is a semaphore: it refuses at once. Safe for concurrent use.
type fairQueue[K comparable] struct {
	most int // requests that may wait in one line

	mu    sync.Mutex
	free  int
	held  map[K]int   // places of each key, above 0
	lines map[K]*line // those in which a request waits, and no other
	round list.List   // of K: the keys of lines, the next to have its turn first
}

// line are the requests of one key that wait.
type line struct {
	waiting list.List // of chan struct{}, closed under the lock when a request has its place; the first to come first
	place   *list.Element
}

func newFairQueue[K comparable](places, most int) *fairQueue[K] {
	return &fairQueue[K]{most: most, free: places, held: make(map[K]int), lines: make(map[K]*line)}
}

// take takes n places for key, if it could take them one by one. The caller locks.
func (q *fairQueue[K]) take(key K, n int) bool {
	if q.held[key]+n > q.free-n+1 {
		return false
	}
	q.free -= n
	q.held[key] += n
	return true
}

// try takes n places for key and reports whether it did. It does not wait, and overtakes a key
// that does. A caller that has the places gives them back with leaveN.
func (q *fairQueue[K]) try(key K, n int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.take(key, n)
}

// tryWithin is try for one place, if key holds fewer than most.
func (q *fairQueue[K]) tryWithin(key K, most int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.held[key] < most && q.take(key, 1)
}

// enter takes a place for key and reports whether it did. It fails at once if the line is full, and later if ctx or the
// time until ends first. A caller that has a place calls leave.
func (q *fairQueue[K]) enter(ctx context.Context, key K, until time.Time) bool {
	q.mu.Lock()
	l := q.lines[key]
	if l == nil && q.take(key, 1) {
		q.mu.Unlock()
		return true
	}
	if l == nil {
		l = new(line)
	}
	if l.waiting.Len() >= q.most {
		q.mu.Unlock()
		return false
	}
	if l.waiting.Len() == 0 {
		q.lines[key] = l
		l.place = q.round.PushBack(key)
	}
	granted := make(chan struct{})
	at := l.waiting.PushBack(granted)
	q.mu.Unlock()

	waiting, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	select {
	case <-granted:
		return true
	case <-waiting.Done():
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	select {
	case <-granted: // in this instant: another request has use for it
		q.pass(key, 1)
	default:
		l.waiting.Remove(at)
		q.close(key, l)
	}
	return false
}

// leave gives a place of key back.
func (q *fairQueue[K]) leave(key K) { q.leaveN(key, 1) }

// leaveN gives n places of key back.
func (q *fairQueue[K]) leaveN(key K, n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.pass(key, n)
}

// pass hands n places of key on, and any that it sets free with them: each to the first request
// in the line of the next key in turn that may have one.
func (q *fairQueue[K]) pass(key K, n int) {
	q.free += n
	if q.held[key] -= n; q.held[key] == 0 {
		delete(q.held, key)
	}
	for next := q.round.Front(); next != nil; {
		key := next.Value.(K)
		if !q.take(key, 1) {
			next = next.Next()
			continue
		}
		l := q.lines[key]
		close(l.waiting.Remove(l.waiting.Front()).(chan struct{}))
		q.round.MoveToBack(next)
		q.close(key, l)
		next = q.round.Front()
	}
}

// close takes the line of key away if no request waits in it.
func (q *fairQueue[K]) close(key K, l *line) {
	if l.waiting.Len() == 0 {
		q.round.Remove(l.place)
		delete(q.lines, key)
	}
}

// waiting returns how many requests wait for key.
func (q *fairQueue[K]) waiting(key K) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if l := q.lines[key]; l != nil {
		return l.waiting.Len()
	}
	return 0
}

// inside returns how many of so many places are taken.
func (q *fairQueue[K]) inside(places int) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return places - q.free
}
