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

func (c *Client) transcript(ctx context.Context, id uint64, recipient string, trust verify.Trust) ([]byte, *verify.Verdict, *audit.Transcript, error) {
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
			return nil, nil, nil, &Fault{What: "the transcript is " + v.Verdict + " at " + v.Failed + v.Unknown, Answer: answer}
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
	receipts := file.Receipts[:1]
	if file.Witnessed != "" {
		// An early one is below what is known, and belongs there.
		receipts = append(receipts, file.Witnessed)
	}
	for _, text := range receipts {
		r, err := audit.ParseReceipt(text)
		if err != nil {
			return nil, &Fault{What: "the transcript", Answer: answer, Err: err}
		}
		checkpoint, err := audit.OpenCheckpoint(r.Checkpoint, c.keys...)
		if err != nil {
			continue // proved under a key that the pinned one handed on to, by which no receipt is taken
		}
		past := checkpoint.Size < when.since && text != file.Witnessed
		if err := c.hold(ctx, head{checkpoint, r.Checkpoint}, past, answer); err != nil {
			return nil, err
		}
	}
	return file, nil
}

// restore takes what was played of a shuffle from a proved transcript, and holds
// the state that the daemon told before against it; nil is none.
func (c *Client) restore(ctx context.Context, s *Committed, state *ShuffleState, told []byte) error {
	answer, v, file, err := c.transcript(ctx, s.ID, "", c.signed)
	if err != nil {
		return err
	}
	fault := func(what string, err error) error { return &Fault{What: what, Answer: answer, Err: err} }
	if v.Commitment != s.Commitment.String() {
		return fault("the transcript is of another commit", nil)
	}
	var mix *audit.Mix
	var closed *audit.Close
	for _, text := range file.Receipts[2:] {
		r, err := audit.ParseReceipt(text)
		if err != nil {
			return fault("the transcript", err)
		}
		e, err := audit.ParseEntry(r.Entry)
		if err != nil {
			return fault("the transcript", err)
		}
		switch b := e.Body.(type) {
		case *audit.Mix:
			mix = b
		case *audit.Close:
			closed = b
		}
	}
	if mix != nil {
		if err := s.mixed(mix); err != nil {
			return fault("the mix", err)
		}
	}
	if state != nil {
		if what := contradicts(state, v, mix != nil); what != "" {
			return &Fault{What: what, Answer: told}
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
	s.mu.Unlock()
	if deck, err := shuffle.NewDeck(file.Deck); err == nil {
		c.learn(deck)
	}
	if closed != nil && closed.Form == audit.FormTape {
		return s.proveTape(closed, answer)
	}
	return nil
}

// contradicts says where a state is not borne out by a transcript that is at least
// as new, or "".
func contradicts(state *ShuffleState, v *verify.Verdict, mixed bool) string {
	isClosed := state.State == ShuffleStateStateClosed
	var closedAt string
	if state.ClosedAt != nil {
		text, _ := state.ClosedAt.MarshalText() // never fails
		closedAt = string(text)
	}
	switch {
	case state.Next > v.Next, isClosed && state.Next != v.Next:
		return "other places were dealt than the ledger shows"
	case deref(state.Mixed) && !mixed:
		return "the ledger shows no mix"
	case !owned(state, v, isClosed):
		return "the ledger shows another owner"
	case isClosed && (v.State != "closed" || v.ClosedAt != closedAt || v.Outcome != string(deref(state.Outcome)) || v.Reason != string(deref(state.Reason))):
		return "the ledger shows another end"
	}
	return ""
}

// owned reports whether the ledger shows the owner that a state names: the last one if
// the shuffle is closed, and otherwise any, since the transcript may be newer.
func owned(state *ShuffleState, v *verify.Verdict, isClosed bool) bool {
	owner, extent := v.Owner, ExtentPlay
	holds := func() bool {
		told := ExtentPlay
		if state.Extent != nil {
			told = *state.Extent
		}
		return state.Owner == owner && told == extent
	}
	ok := holds()
	for _, t := range v.Takeovers {
		owner, extent = t.Identity, Extent(t.Extent)
		ok = holds() || ok && !isClosed
	}
	return ok
}

// learnMix restores a shuffle whose mix another client made.
func (c *Client) learnMix(ctx context.Context, s *Committed) error {
	s.mu.Lock()
	known := s.play.ordered
	s.mu.Unlock()
	if known {
		return nil
	}
	if err := c.restore(ctx, s, nil, nil); err != nil {
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
			if err := c.restore(ctx, s, nil, nil); err != nil {
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
