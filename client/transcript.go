package client

import (
	"context"
	"fmt"

	"shuffled/internal/audit"
	"shuffled/internal/shuffle"
	"shuffled/internal/verify"
)

// Transcript returns the evidence of a shuffle that this token may see, proved
// under what is pinned; with a recipient, which takes a dealer's token, that
// recipient's file. Pass it on byte for byte. Where a policy asks for witnesses,
// it waits until they cosigned the newest entry in it: ErrNotWitnessed after
// Config.Attempts.
func (c *Client) Transcript(ctx context.Context, id uint64, recipient string) ([]byte, error) {
	answer, _, _, err := c.transcript(ctx, id, recipient, c.full)
	return answer, err
}

func (c *Client) transcript(ctx context.Context, id uint64, recipient string, trust verify.Trust) ([]byte,
	*verify.Verdict, *audit.Transcript, error) {
	var params GetTranscriptParams
	if recipient != "" {
		params.Recipient = &recipient
	}
	for attempt := 1; ; attempt++ {
		when := c.reading()
		answer, err := c.getTranscript(ctx, id, params)
		if err != nil {
			return nil, nil, nil, err
		}
		v := verify.Transcript(answer, trust)
		if c.policy.Asks() && v.Verdict == verify.Failed && v.Failed == "witnesses" {
			if attempt == c.cfg.Attempts {
				return nil, nil, nil, fmt.Errorf("the transcript of shuffle %d: %w", id, ErrNotWitnessed)
			}
			if err := sleep(ctx, c.pause(attempt)); err != nil {
				return nil, nil, nil, fmt.Errorf("%w, after: %w", err, ErrNotWitnessed)
			}
			continue
		}
		switch {
		case v.Verdict != verify.Proved:
			return nil, nil, nil, &Fault{What: "the transcript is " + v.Verdict + " at " + v.Failed + v.Unknown,
				Answer: answer}
		case v.ID != id || v.Recipient != recipient:
			return nil, nil, nil, &Fault{What: "the transcript is another one", Answer: answer}
		}
		file, err := c.holdTranscript(ctx, answer, when)
		return answer, v, file, err
	}
}

// holdTranscript takes in the checkpoints of a transcript that was proved.
func (c *Client) holdTranscript(ctx context.Context, answer []byte, when asked) (*audit.Transcript, error) {
	file, err := audit.ParseTranscript(answer)
	if err != nil {
		return nil, &Fault{What: "the transcript", Answer: answer, Err: err}
	}
	heads := [][]byte{[]byte(file.Checkpoint)}
	if file.Witnessed != "" {
		r, err := audit.ParseReceipt(file.Witnessed)
		if err != nil {
			return nil, &Fault{What: "the transcript", Answer: answer, Err: err}
		}
		heads = append(heads, r.Checkpoint)
	}
	for i, signed := range heads {
		checkpoint, err := audit.OpenCheckpoint(signed, c.keys...)
		if err != nil {
			continue // proved under a key that the pinned one handed on to, by which no receipt is taken
		}
		past := i == 0 && checkpoint.Size < when.since // an early one is below what is known, and belongs there
		if err := c.hold(ctx, head{checkpoint, signed}, past, answer); err != nil {
			return nil, err
		}
	}
	return file, nil
}

// restore takes what was played of a shuffle from a proved transcript, whose verdict it
// returns.
func (c *Client) restore(ctx context.Context, s *Committed) (*verify.Verdict, error) {
	answer, v, file, err := c.transcript(ctx, s.ID, "", c.signed)
	if err != nil {
		return nil, err
	}
	fault := func(what string, err error) (*verify.Verdict, error) {
		return nil, &Fault{What: what, Answer: answer, Err: err}
	}
	if v.Commitment != s.Commitment.String() {
		return fault("the transcript is of another commit", nil)
	}
	var told audit.Disclosed
	for _, text := range file.Receipts[2:] {
		_, e, err := audit.ReceiptEntry(text)
		if err != nil {
			return fault("the transcript", err)
		}
		switch b := e.Body.(type) {
		case *audit.Mix:
			if err := s.mixed(b); err != nil {
				return fault("the mix", err)
			}
		case *audit.Deal:
			s.give(b)
		}
		if d, ok := audit.DisclosedBy(e.Body); ok {
			told = d
		}
	}
	if file.CoDealer != nil { // which a proved file of a shuffle with a co-dealer has, with its openings
		if err := s.ordered(file.CoDealer.Receipts[0]); err != nil {
			return fault("the co-dealer's commit", err)
		}
	}
	for _, card := range file.Cards {
		o, err := card.Opening()
		if err != nil {
			return fault("the transcript", err)
		}
		if what, err := s.open(card.Place, o); what != "" {
			return fault(what, err)
		}
	}
	s.mu.Lock()
	s.play.next = max(s.play.next, v.Next)
	for _, card := range v.Cards {
		s.play.dealt[card.Place] = card
	}
	s.mu.Unlock()
	if deck, err := shuffle.NewDeck(file.Deck); err == nil {
		c.learn(deck)
	}
	if told.Form == audit.FormTape {
		return v, s.proveTape(told, answer)
	}
	return v, nil
}

// learnMix restores a shuffle whose mix another client made.
func (c *Client) learnMix(ctx context.Context, s *Committed) error {
	s.mu.Lock()
	known := s.play.ordered
	s.mu.Unlock()
	if known {
		return nil
	}
	if _, err := c.restore(ctx, s); err != nil {
		return fmt.Errorf("learning the mix: %w", err)
	}
	return nil
}

// maxDecks bounds the decks that a client remembers.
const maxDecks = 1000

// learn remembers the names of a deck.
func (c *Client) learn(deck shuffle.Deck) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.decks) >= maxDecks {
		clear(c.decks)
	}
	c.decks[deck.Hash()] = deck.Cards()
}

// proveNames holds the cards' names against the deck. A commit has only its hash:
// the names of a deck that was not asked for here come from a proved transcript.
func (c *Client) proveNames(ctx context.Context, s *Committed, cards []Card, answer []byte) error {
	var deck []string
	if hash := s.commit.Context.DeckHash; !s.commit.Context.IsDraw() {
		c.mu.Lock()
		known, ok := c.decks[hash]
		c.mu.Unlock()
		if !ok {
			if _, err := c.restore(ctx, s); err != nil {
				return fmt.Errorf("learning the deck's names: %w", err)
			}
			c.mu.Lock()
			known = c.decks[hash]
			c.mu.Unlock()
		}
		deck = known
	}
	for _, card := range cards {
		switch {
		case deck == nil && card.Card == nil:
		case deck == nil || int64(card.Value) >= int64(len(deck)) || card.Card == nil || *card.Card != deck[card.Value]:
			return &Fault{What: fmt.Sprintf("the card at place %d has another card's name", card.Place), Answer: answer}
		}
	}
	return nil
}
