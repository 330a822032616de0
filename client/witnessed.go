package client

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"shuffled/internal/audit"
	"shuffled/internal/verify"
)

// Await returns when the quorum of Config.Policy has cosigned a checkpoint that covers the commit. It returns at once
// if the policy asks for nobody, or if there is none. It asks again with growing pauses, Config.Attempts times at most.
// Then it returns ErrNotWitnessed.
//
// Mix, Deal and Reveal do this by themselves before they ask for the first value or card. The entry of a mix or deal
// must stand behind that checkpoint. So each witness that cosigned saw the commitment to the whole order before a card
// was told. Receipts are signed at once and cosigned a moment later: the client accepts an answer under the ledger's
// signature alone. Transcript waits for the witnesses of all entries.
func (c *Client) Await(ctx context.Context, s *Committed) error {
	done := false
	s.with(func(p *play) { done = p.seen > 0 || p.early })
	if done || !c.policy.Asks() {
		return nil
	}
	receipt, e, err := c.cosigned(ctx, s.ID)
	switch {
	case e.signed != nil && e.leaf != s.entry.leaf:
		return &Fault{What: "the receipt is of another commit", Answer: []byte(receipt)}
	case err != nil:
		return fmt.Errorf("the commit of shuffle %d: %w", s.ID, err)
	}
	s.with(func(p *play) { p.seen = e.size })
	return nil
}

// untilWitnessed makes a call until its error is not ErrNotWitnessed, with growing pauses, Config.Attempts times at
// most.
func (c *Client) untilWitnessed(ctx context.Context, call func() error) error {
	return c.until(ctx, func(err error) bool { return errors.Is(err, ErrNotWitnessed) }, call)
}

// until makes a call until its error is not one to try again after.
func (c *Client) until(ctx context.Context, again func(error) bool, call func() error) error {
	for attempt := 1; ; attempt++ {
		err := call()
		if !again(err) || attempt == c.cfg.Attempts {
			return err
		}
		if ctxErr := sleep(ctx, c.pause(attempt)); ctxErr != nil {
			return fmt.Errorf("%w, after: %w", ctxErr, err)
		}
	}
}

// proveEarly proves that the quorum cosigned the commit before the first mix or deal. index is the entry of a mix or
// deal, and first says that it is the first. If another client began, a transcript shows it.
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
	s.with(func(p *play) { p.early = true })
	return nil
}
