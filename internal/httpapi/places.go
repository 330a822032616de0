package httpapi

import (
	"sync"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
)

// crowd lets a number of requests in at a time, of each key its share, and turns
// the next away at once. Safe for concurrent use.
type crowd[K comparable] struct {
	mu     sync.Mutex
	places shares[K]
}

func newCrowd[K comparable](places int) *crowd[K] { return &crowd[K]{places: newShares[K](places)} }

// inside returns how many of so many places are taken.
func (c *crowd[K]) inside(places int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return places - c.places.free
}

func (c *crowd[K]) enter(key K) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.places.take(key)
}

func (c *crowd[K]) leave(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.places.give(key)
}

// seat is what places of work are shared by: those who show no credential have a
// share and a line of their own. Whoever reads an answer slowly, or not at all, holds
// a place meanwhile, and strangers must not hold those of who is known.
type seat struct {
	ledger   ledger.ID
	stranger bool
}

func (c *call) seat() seat { return seat{c.ledger.id, !presents(c.r)} }

// enter takes a place of work for the call, or refuses it. Who has one calls leave.
// It waits for half of the patience: the other half is for what comes after, which
// would be work for nothing if the request were refused there.
func (s *Server) enter(c *call, since time.Time) error {
	if !s.turns.enter(c.r.Context(), c.seat(), since.Add(s.cfg.Limits.Patience/2)) {
		s.metrics.refuse(c.ledger, refusedQueue)
		c.w.away = true
		return refuse(CodeOverloaded)
	}
	c.works = true
	return nil
}

// leave gives the call's place back, if it has one.
func (s *Server) leave(c *call) {
	if c.works {
		c.works = false
		s.turns.leave(c.seat())
	}
}

// awaitWitnesses waits, where the ledger asks for it, until the witnesses have
// cosigned the commit at index id. That may be seconds, in which the request works
// at nothing: it gives its place to others. The dealer asks again, which then costs
// nothing.
func (s *Server) awaitWitnesses(c *call, id uint64) error {
	if c.ledger.Log.Genesis().Deals != audit.DealsCosigned {
		return nil
	}
	if live := c.ledger.Log.Live(); id < live.Cosigned || id >= live.Size {
		return nil
	}
	if !s.witnessed.enter(c.ledger.id) {
		s.metrics.refuse(c.ledger, refusedWitness)
		return refuse(CodeOverloaded)
	}
	defer s.witnessed.leave(c.ledger.id)
	s.leave(c)
	if err := c.ledger.Dealer.AwaitWitnesses(c.r.Context(), id); err != nil {
		return err
	}
	now := time.Now()
	c.r = c.r.WithContext(ledger.WithPatience(c.r.Context(), now.Add(s.cfg.Limits.Patience)))
	return s.enter(c, now)
}
