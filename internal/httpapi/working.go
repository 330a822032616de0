package httpapi

import (
	"context"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
)

// queueKey is what places of work are shared by. Requests without a credential have a
// share and a line of their own: a caller that reads its answer slowly holds a place, and
// strangers must not hold those of dealers.
type queueKey struct {
	ledger   ledger.ID
	stranger bool
}

func (c *call) queueKey() queueKey { return queueKey{c.ledger.id, !presents(c.r)} }

// enter takes a place of work for the call, which leave gives back, or refuses the call.
// It waits for half of the queue deadline. The other half is for the queues that follow:
// what was done before would be in vain if the request were refused there.
func (s *Server) enter(c *call, since time.Time) error {
	if !s.working.enter(c.r.Context(), c.queueKey(), since.Add(s.cfg.Limits.QueueDeadline/2)) {
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
		s.working.leave(c.queueKey())
	}
}

// waits are places of requests that are there and work at nothing.
type waits struct {
	witnessed *fairSemaphore[ledger.ID] // requests that wait for witnesses
	followers *fairSemaphore[tokenKey]  // streams of events

	streams    context.Context // of all streams; Drain ends it
	endStreams context.CancelFunc
}

func newWaits(l Limits) waits {
	w := waits{witnessed: newFairSemaphore[ledger.ID](l.Witnessed), followers: newFairSemaphore[tokenKey](l.Followers)}
	w.streams, w.endStreams = context.WithCancel(context.Background())
	return w
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
	c.r = c.r.WithContext(ledger.WithPatience(c.r.Context(), now.Add(s.cfg.Limits.QueueDeadline)))
	return s.enter(c, now)
}
