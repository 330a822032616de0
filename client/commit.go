package client

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"shuffled/internal/audit"
	"shuffled/internal/shuffle"
)

// Committed is a shuffle or draw whose commit was proved, with what the client saw of it since. It is safe for
// concurrent use.
type Committed struct {
	Shuffle
	Terms
	commit *audit.Commit
	entry  proved // of the commit

	mu   sync.Mutex // guards all fields below
	play play
	all  []uint32 // values by position, once the tape was disclosed

	// Of a child: the parent's cards by position, nil if they are not known; and those that it dealt from other
	// positions than the child's.
	parent []uint32
	barred []uint32
}

// Places returns how many cards can be dealt.
func (s *Committed) Places() int { return s.commit.Context.Recipe.Positions() }

// Commit asks for a shuffle and returns it when its commit is proved to stand in the ledger and to be what was asked
// for. The same key and request give the same shuffle for ever. Errors are *Error, *Fault, or of the network or
// context. If Unknown reports the error, call again with the same key.
//
// A request with a Parent loads the parent first. A caller that still has the parent calls Child.
func (c *Client) Commit(ctx context.Context, key string, req ShuffleRequest) (*Committed, error) {
	done, err := c.do(ctx, Step{Key: key, Request: req})
	return done.Shuffle, err
}

// Child shuffles cards of an open shuffle, the parent, again. The parent ends as continued with the child's commit.
// Without req.Parent the child takes the cards that were not dealt; a continuous shuffler gives all back: see
// Positions. Cards that the client saw at other positions of the parent cannot come out of the child. The parent's tape
// is disclosed after the close of the last child. Then Transcript with the parent's id proves it.
func (c *Client) Child(ctx context.Context, key string, parent *Committed, req ShuffleRequest) (*Committed, error) {
	if req.Parent == nil {
		req.Parent = &Parent{ID: parent.ID}
	} else if req.Parent.ID != parent.ID {
		return nil, errors.New("the request names another parent")
	}
	done, err := c.do(ctx, Step{Key: key, Request: req, Of: parent})
	return done.Shuffle, err
}

// Draws asks for drawn values, like Commit for cards.
func (c *Client) Draws(ctx context.Context, key string, req DrawsRequest) (*Committed, error) {
	done, err := c.do(ctx, Step{Key: key, Request: req})
	return done.Shuffle, err
}

// proveAsked is proveCommit of a commit that this client asked for. A child takes over what is known of its parent.
func (c *Client) proveAsked(ctx context.Context, step *Step, parent *Committed, r reply) (*Committed, error) {
	told, err := decoded[Shuffle](r.body, nil)
	if err != nil {
		return nil, err
	}
	s, err := c.proveCommit(ctx, *told, r)
	if err != nil {
		return nil, err
	}
	if err := c.own(s.entry, said{time: s.Time, repeated: bool(deref(s.Repeated))}, r); err != nil {
		return nil, err
	}
	var common *ShuffleRequest // what both kinds of request say
	var want *audit.Context
	var deck shuffle.Deck // whose names were asked for
	switch req := step.Request.(type) {
	case ShuffleRequest:
		if common = &req; parent != nil && s.commit.Context.Parent != nil && req.Parent.Positions == nil &&
			len(s.commit.Context.Parent.Positions) != parent.Places()-parent.Next() { // others dealt on, it says
			if _, err := c.restore(ctx, parent); err != nil {
				return nil, err
			}
		}
		want, deck = req.wants(s.commit.Context, parent)
	case DrawsRequest:
		common = req.common()
		want, deck = req.wants(s.commit.Context)
	}
	if what := s.differs(step.Key, common, want); what != "" {
		return nil, r.fault(what, nil)
	}
	if deck.Len() > 0 {
		c.decks.put(deck.Hash(), deck, maxDecks)
	}
	if parent == nil {
		return s, nil
	}
	e, err := c.receipt(ctx, s.ID+1)
	if err != nil {
		return s, err
	}
	return s, s.inherit(parent, e)
}

// proveCommit compares what the daemon says of a shuffle with its commit. The verdict on the receipt includes that the
// commit is of the pinned ledger.
func (c *Client) proveCommit(ctx context.Context, s Shuffle, r reply) (*Committed, error) {
	e, err := c.prove(ctx, s.Receipt, s.ID, r)
	if err != nil {
		return nil, err
	}
	commit, ok := e.Body.(*audit.Commit)
	if !ok || e.index != s.ID || commit.Context.Table != s.Table || commit.Serial != s.Serial ||
		commit.Commitment != s.Commitment || commit.DeckRoot != s.DeckRoot || commit.CloseBy != s.CloseBy.UnixMilli() {
		return nil, r.fault("it is not what the commit says", nil)
	}
	if c.cfg.Production && !commit.Context.Production {
		return nil, r.fault("it is of a sandbox, and production is wanted", nil)
	}
	if p, ok := commit.Context.Beacon(); ok {
		if at, known := audit.BeaconTime(p.Chain, p.Round); !known || at <= e.Time/1000 {
			return nil, r.fault("the beacon's round was out when it was planned, or its chain is not known", nil)
		}
	}
	if what := c.tables.add(s.ID, commit); what != "" {
		return nil, r.fault(what, nil)
	}
	committed := &Committed{Shuffle: s, Terms: termsOf(commit, e.Time), commit: commit, entry: e}
	committed.play = newPlay(committed)
	if committed.blind() && s.CoDealer != nil {
		if err := committed.ordered(*s.CoDealer); err != nil {
			return nil, r.fault("the co-dealer's commit", err)
		}
	}
	return committed, nil
}

// inherit proves that the parent was closed with the commit of its child, and takes over what is known of the parent's
// cards: those that were dealt, or all of them if the tape was disclosed to everybody. e is the entry behind the commit
// of the child.
func (s *Committed) inherit(parent *Committed, e proved) error {
	body, ok := e.Body.(*audit.Close)
	if !ok || body.Shuffle != parent.ID || body.Outcome != audit.OutcomeContinued {
		return &Fault{What: "the parent was not closed with the child's commit", Answer: []byte(e.receipt)}
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
		s.barred = slices.AppendSeq(slices.Clone(parent.barred), maps.Values(dealt))
		return nil
	}
	if slices.ContainsFunc(positions, func(p uint16) bool { return int(p) >= len(all) }) {
		return &Fault{What: "the parent has no such position", Answer: []byte(e.receipt)}
	}
	s.parent = all
	return nil
}
