package httpapi

import (
	"context"
	"net/netip"
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
			s.metrics.refuse(c.ledger, refusedReaders)
			c.w.away = true
			return refuse(CodeOverloaded)
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
		wait := time.NewTimer(max(0, s.tokenRates.after(key, s.cfg.Now())))
		defer wait.Stop()
		select {
		case <-wait.C:
		case <-ctx.Done():
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
	for {
		wait := s.bytesAfter(from)
		if wait <= 0 {
			return true
		}
		left := time.Until(until)
		if left <= 0 {
			return false
		}
		timer := time.NewTimer(min(wait, left))
		select {
		case <-timer.C:
		case <-c.r.Context().Done():
			timer.Stop()
			return false
		}
	}
}
