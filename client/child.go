package client

import (
	"context"
	"maps"

	"shuffled/internal/audit"
)

// inherit proves that the parent was closed with the commit of its child, and takes over what is known of the parent's
// cards: those that were dealt, or all of them if the tape was disclosed to everybody.
func (c *Client) inherit(ctx context.Context, s, parent *Committed) error {
	answer, e, err := c.receipt(ctx, s.ID+1)
	if err != nil {
		return err
	}
	return s.inherit(parent, e, answer)
}

// inherit takes over what is known of the parent. e is the entry behind the child's commit.
func (s *Committed) inherit(parent *Committed, e proved, answer string) error {
	body, ok := e.Body.(*audit.Close)
	if !ok || body.Shuffle != parent.ID || body.Outcome != audit.OutcomeContinued {
		return &Fault{What: "the parent was not closed with the child's commit", Answer: []byte(answer)}
	}
	parent.mu.Lock()
	all, dealt := parent.all, maps.Clone(parent.play.bound.Values)
	parent.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	positions := s.commit.Context.Parent.Positions
	if all == nil {
		for _, p := range positions {
			delete(dealt, int(p))
		}
		s.barred = make(map[uint32]bool, len(dealt))
		for _, v := range dealt {
			s.barred[v] = true
		}
		return nil
	}
	s.parent, s.given = make([]uint32, 0, len(positions)), make(map[uint32]bool, len(positions))
	for _, p := range positions {
		if int(p) >= len(all) {
			return &Fault{What: "the parent has no such position", Answer: []byte(answer)}
		}
		s.parent, s.given[all[p]] = append(s.parent, all[p]), true
	}
	return nil
}
