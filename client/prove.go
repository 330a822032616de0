package client

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
)

// anyIndex is for an entry whose index only its receipt tells.
const anyIndex = ^uint64(0)

// prove returns the entry that a receipt proves: signed by the pinned key,
// included, at the index.
func (c *Client) prove(receipt string, index uint64, answer []byte) (audit.Entry, error) {
	fault := func(what string, err error) (audit.Entry, error) {
		return audit.Entry{}, &Fault{What: what, Answer: answer, Err: err}
	}
	r, err := audit.ParseReceipt(receipt)
	if err != nil {
		return fault("the receipt", err)
	}
	checkpoint, err := audit.OpenCheckpoint(r.Checkpoint, c.key)
	if err != nil {
		return fault("the signature", err)
	}
	if err := r.CheckInclusion(checkpoint); err != nil {
		return fault("the inclusion", err)
	}
	if index != anyIndex && r.Index != index {
		return fault(fmt.Sprintf("the receipt is of entry %d, not %d", r.Index, index), nil)
	}
	e, err := audit.ParseEntry(r.Entry)
	if err != nil {
		return fault("the entry", err)
	}
	return e, nil
}

// proveCommit holds what the daemon says of a shuffle against its commit.
func (c *Client) proveCommit(s Shuffle, answer []byte) (*Committed, error) {
	e, err := c.prove(s.Receipt, s.ID, answer)
	if err != nil {
		return nil, err
	}
	commit, ok := e.Body.(*audit.Commit)
	if !ok || commit.Context.Origin != c.key.Name() || commit.Context.Table != s.Table || commit.Serial != s.Serial ||
		commit.Commitment != s.Commitment || commit.DeckRoot != s.DeckRoot || commit.CloseBy != s.CloseBy.UnixMilli() {
		return nil, &Fault{What: "it is not what the commit says", Answer: answer}
	}
	return &Committed{Shuffle: s, commit: commit}, nil
}

// differs says where the commit is not what was asked for, or "".
func (s *Committed) differs(origin, key string, req *ShuffleRequest) string {
	ctx := s.commit.Context
	endLo, endHi := ctx.EndAt, ctx.EndAt
	if ctx.Recipe.EndHi != 0 {
		endLo, endHi = ctx.Recipe.EndLo, ctx.Recipe.EndHi
	}
	switch {
	case ctx.Table != req.Table:
		return "it is at another table"
	case s.commit.KeyTag != audit.KeyTag(origin, req.Table, key):
		return "it is under another idempotency key"
	case ctx.IsDraw() || ctx.Parent != nil || len(ctx.Plan) > 0:
		return "it is no plain shuffle of cards"
	case req.Cards != nil && ctx.Recipe.Cards != len(req.Cards):
		return "it is of another deck"
	case req.Take != nil && ctx.Recipe.Take != *req.Take, req.Take == nil && ctx.Recipe.Take != ctx.Recipe.Cards:
		return "it takes another number of cards"
	case req.EndAt != nil && (EndAt{endLo, endHi}) != *req.EndAt, req.EndAt == nil && endHi != 0:
		return "its cut card is elsewhere"
	case req.Disclosure != nil && ctx.Disclosure.String() != string(*req.Disclosure):
		return "it is disclosed to others"
	case req.CloseBy != nil && s.commit.CloseBy != req.CloseBy.UnixMilli():
		return "it is to be closed at another time"
	case s.commit.GameRef != deref(req.GameRef):
		return "it is of another game"
	}
	return ""
}

// proveDeal holds a deal against its request, its entry and the deck root.
func (c *Client) proveDeal(s *Committed, req *DealRequest, d *Deal, answer []byte) error {
	e, err := c.prove(d.Receipt, anyIndex, answer)
	if err != nil {
		return err
	}
	fault := func(format string, args ...any) error {
		return &Fault{What: fmt.Sprintf(format, args...), Answer: answer}
	}
	deal, ok := e.Body.(*audit.Deal)
	if !ok || deal.Shuffle != s.ID || deal.First != req.First || deal.Final != (req.Close != nil) || !slices.Equal(deal.Runs, runs(req)) {
		return fault("the deal in the ledger is another one")
	}
	if len(d.Cards) != deal.Count() || d.Next != req.First+deal.Count() {
		return fault("%d cards up to place %d were dealt for %d from %d", len(d.Cards), d.Next, deal.Count(), req.First)
	}
	for i, card := range d.Cards {
		if card.Place != req.First+i {
			return fault("place %d stands where %d should", card.Place, req.First+i)
		}
		if len(s.commit.Context.Plan) == 0 && card.Position != card.Place {
			return fault("place %d shows position %d without a mix", card.Place, card.Position)
		}
		if err := opening(card).Check(tlog.Hash(s.DeckRoot), s.Places()); err != nil {
			return &Fault{What: fmt.Sprintf("the card at place %d", card.Place), Answer: answer, Err: err}
		}
	}
	switch {
	case req.Close == nil && d.Close == nil:
		return nil
	case req.Close == nil || d.Close == nil:
		return fault("one of deal and close is missing")
	}
	return c.proveClose(s, req.Close, d.Close, answer)
}

func runs(req *DealRequest) []audit.Run {
	out := make([]audit.Run, len(req.Runs))
	for i, r := range req.Runs {
		out[i] = audit.Run{Count: r.Count, Purpose: audit.ParsePurpose(string(r.Purpose)),
			Recipient: deref(r.Recipient), Public: deref(r.Public)}
	}
	return out
}

func opening(card Card) audit.Opening {
	o := audit.Opening{Position: card.Position, Value: card.Value, Salt: card.Salt}
	for _, h := range card.Proof {
		o.Proof = append(o.Proof, tlog.Hash(h))
	}
	return o
}

// proveClose holds a close against its request, its entry and the commitment.
func (c *Client) proveClose(s *Committed, req *CloseRequest, ending *Close, answer []byte) error {
	e, err := c.prove(ending.Receipt, anyIndex, answer)
	if err != nil {
		return err
	}
	fault := func(what string) error { return &Fault{What: what, Answer: answer} }
	body, ok := e.Body.(*audit.Close)
	if !ok || body.Shuffle != s.ID || body.Outcome.String() != string(req.Outcome) || body.Reason.String() != string(deref(req.Reason)) ||
		ending.Outcome != req.Outcome || deref(ending.Reason) != deref(req.Reason) {
		return fault("the close in the ledger is another one")
	}
	ctx := s.commit.Context
	if ctx.Disclosure != audit.DisclosurePublic {
		if body.Form != audit.FormSealed || ending.Tape != nil {
			return fault("the tape is not disclosed as the commit declared")
		}
		return nil
	}
	if body.Form != audit.FormTape || !bytes.Equal(body.Tape, ending.Tape) ||
		audit.Commitment(ctx.Encode(), ending.Tape) != s.commit.Commitment {
		return fault("the tape is not the one committed to")
	}
	return nil
}

// maxDecks bounds the decks that a client remembers.
const maxDecks = 1000

// names returns the card names of a shuffle. A commit has only their hash, so
// for a deck that is new to this client they come from a transcript, which is
// proved, the deck against that hash included.
func (c *Client) names(ctx context.Context, s *Committed) (func(value uint32) string, error) {
	hash := s.commit.Context.DeckHash
	c.mu.Lock()
	deck, ok := c.decks[hash]
	c.mu.Unlock()
	if !ok {
		answer, v, err := c.transcript(ctx, s.ID, "")
		if err != nil {
			return nil, fmt.Errorf("learning the deck's names: %w", err)
		}
		if v.Commitment != s.Commitment.String() {
			return nil, &Fault{What: "the transcript is of another commit", Answer: answer}
		}
		t, err := audit.ParseTranscript(answer)
		if err != nil {
			return nil, &Fault{What: "the transcript", Answer: answer, Err: err}
		}
		deck = t.Deck
		c.mu.Lock()
		if len(c.decks) >= maxDecks {
			clear(c.decks)
		}
		c.decks[hash] = deck
		c.mu.Unlock()
	}
	return func(value uint32) string {
		if uint64(value) >= uint64(len(deck)) {
			return "" // an opening of such a value does not lead to the root
		}
		return deck[value]
	}, nil
}
