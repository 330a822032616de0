package client

import (
	"context"
	"fmt"

	"shuffled/internal/audit"
)

// Commits asks for count shuffles like req, 2 to 256, under one key, and returns
// them in the order of their serials when each is proved as by Commit. They are
// adjacent entries of the ledger, committed together or not at all, and each is
// mixed, dealt and closed for itself; none before the one in front of it was dealt
// from or closed. req has neither a Parent nor slots. Errors are as of Commit.
func (c *Client) Commits(ctx context.Context, key string, req ShuffleRequest, count int) ([]*Committed, error) {
	if err := c.checkSometimes(ctx); err != nil {
		return nil, err
	}
	when := c.command(ctx).under(key)
	req.Count = &count
	answer, err := c.createShuffle(when.in(ctx), CreateShuffleParams{IdempotencyKey: key}, req)
	batch, err := decoded[ShuffleBatch](answer, err)
	if err != nil {
		return nil, err
	}
	all, err := c.proveBatch(ctx, key, &req, batch, when, answer)
	if err != nil {
		return nil, err
	}
	if deck, ok := requested(req.Deck, req.Cards); ok {
		c.learn(deck)
	}
	return all, nil
}

// proveBatch holds an answer against the commits in it, and these against what was
// asked for and against each other.
func (c *Client) proveBatch(ctx context.Context, key string, req *ShuffleRequest, batch *ShuffleBatch, when asked,
	answer []byte) ([]*Committed, error) {
	count := *req.Count
	if len(batch.Shuffles) != count {
		return nil, &Fault{What: fmt.Sprintf("it has %d shuffles, and %d were asked for", len(batch.Shuffles), count),
			Answer: answer}
	}
	all := make([]*Committed, count)
	for i, told := range batch.Shuffles {
		t := req.terms(key, i)
		wants := func(got *audit.Context) *audit.Context { return req.wants(t, got, nil) }
		s, err := c.proveAsked(ctx, told, t, wants, when, answer)
		if err != nil {
			return nil, err
		}
		if i > 0 && !s.follows(all[i-1]) {
			what := fmt.Sprintf("shuffles %d and %d of %d are not adjacent", i, i+1, count)
			return nil, &Fault{What: what, Answer: answer}
		}
		all[i] = s
	}
	return all, nil
}

// follows reports whether s is the next entry after before, and the next shuffle
// of its table.
func (s *Committed) follows(before *Committed) bool {
	return s.ID == before.ID+1 && s.Serial == before.Serial+1 && s.commit.Previous == before.ID
}
