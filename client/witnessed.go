package client

import (
	"context"
	"fmt"
	"slices"

	"shuffled/internal/audit"
	"shuffled/internal/verify"
)

// Await returns when the quorum of Config.Policy has cosigned a checkpoint that
// covers the commit; at once for a policy that asks for nobody, and without one.
// It asks again with growing pauses, Config.Attempts times: then ErrNotWitnessed.
//
// Mix and Deal do this by themselves before the first value or card is asked for,
// and want the entry they get to stand behind that checkpoint. So anyone who cosigned
// held the whole order before a card was told. Receipts are signed at once and
// cosigned a moment later: an answer is accepted under the ledger's signature, and
// Transcript is what waits for the witnesses of all of it.
func (c *Client) Await(ctx context.Context, s *Committed) error {
	s.mu.Lock()
	done := s.play.seen > 0 || s.play.early
	s.mu.Unlock()
	if done || !c.policy.Asks() {
		return nil
	}
	for attempt := 1; ; attempt++ {
		answer, err := c.getReceipt(ctx, s.ID)
		if err != nil {
			return err
		}
		e, err := c.prove(ctx, string(answer), s.ID, asked{}, answer)
		if err != nil {
			return err
		}
		if e.leaf != s.leaf {
			return &Fault{What: "the receipt is of another commit", Answer: answer}
		}
		if c.policy.Satisfied(e.signed) {
			s.mu.Lock()
			s.play.seen = e.size
			s.mu.Unlock()
			return nil
		}
		if attempt == c.cfg.Attempts {
			return fmt.Errorf("the commit of shuffle %d: %w", s.ID, ErrNotWitnessed)
		}
		if err := sleep(ctx, c.pause(attempt)); err != nil {
			return fmt.Errorf("%w, after: the commit of shuffle %d: %w", err, s.ID, ErrNotWitnessed)
		}
	}
}

// proveEarly wants the quorum to have cosigned the commit before the first mix or
// deal, given the entry of one; first says that it is the first. Where others
// began, a transcript tells.
func (c *Client) proveEarly(ctx context.Context, s *Committed, index uint64, first bool) error {
	s.mu.Lock()
	early, seen := s.play.early, s.play.seen
	if first && seen > 0 && seen <= index {
		s.play.early, early = true, true
	}
	s.mu.Unlock()
	if early || !c.policy.Asks() {
		return nil
	}
	answer, v, file, err := c.transcript(ctx, s.ID, "", c.full)
	if err != nil {
		return err
	}
	// Legality in the verdict makes a file with this entry whole up to it.
	holds := slices.ContainsFunc(file.Receipts, func(text string) bool {
		r, err := audit.ParseReceipt(text)
		return err == nil && r.Index == index
	})
	if !holds || v.Commitment != s.Commitment.String() {
		return &Fault{What: "the transcript lacks what was answered before", Answer: answer}
	}
	if v.Level != verify.LevelWitnessed && v.Level != verify.LevelMixed {
		return fmt.Errorf("shuffle %d was played before its witnesses saw it: %w", s.ID, ErrNotWitnessed)
	}
	s.mu.Lock()
	s.play.early = true
	s.mu.Unlock()
	return nil
}
