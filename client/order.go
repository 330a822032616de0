package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
)

// Dealing blind (docs/BLIND.md). The client of a house also checks each card against the co-dealer's commit. With Ask
// and Asked a house calls its co-dealer.

// blind reports whether the plan has a co-dealer.
func (s *Committed) blind() bool {
	_, ok := s.commit.Context.CoDealer()
	return ok
}

// ordered takes in the co-dealer's commit from its receipt. The plan says which entry that is. Who signed it, and who
// saw it, only a transcript shows, under a policy for the co-dealer.
func (s *Committed) ordered(receipt string) error {
	r, e, err := audit.ReceiptEntry(receipt)
	if err != nil {
		return err
	}
	planned, _ := s.commit.Context.CoDealer()
	if r.Index != planned.Index || tlog.RecordHash(r.Entry) != tlog.Hash(planned.Leaf) {
		return errors.New("it is not the one that the plan names")
	}
	order, ok := e.Body.(*audit.Commit)
	if !ok {
		return errors.New("the plan names an entry that is no commit")
	}
	if err := audit.CheckOrder(s.commit, order); err != nil {
		return err
	}
	s.with(func(p *play) { p.bound.Second = order })
	return nil
}

// Given is a deal of an order for the caller's ledger, with the openings of its places that are not dealt aside.
type Given struct {
	Receipt string // of the deal, under a checkpoint that the quorum of Config.Policy cosigned
	Cards   []openings.Card
	Last    audit.Last // of the checkpoint that the caller named, in the tree of that of Receipt
}

// Ask deals the next places of an order that this ledger has for the caller's own. It returns when it is proved that
// the deal stands in this ledger, under a checkpoint that the quorum of Config.Policy cosigned. The caller checks the
// deal and the openings against its request and the order's commit, and by Last that the ledger only grew since its
// checkpoint of Asked.Since entries. The same request gets the same answer. Another request for these places is refused
// with CodeRepeated.
func (c *Client) Ask(ctx context.Context, order uint64, req DealRequest) (*Given, error) {
	when := c.reading()
	answer, err := c.dealCards(ctx, order, req)
	told, err := decoded[Deal](answer, err)
	if err != nil {
		return nil, err
	}
	e, err := c.prove(ctx, told.Receipt, anyIndex, reply{when, answer})
	if err == nil {
		err = c.seen(e)
	}
	if err != nil {
		return nil, err
	}
	g := &Given{Receipt: told.Receipt}
	for _, card := range told.Cards {
		g.Cards = append(g.Cards, openings.NewCard(card.Place, opened(card).Opening, deref(card.Card)))
	}
	if told.Last != nil { // the caller checks it
		g.Last.Leaf = tlog.Hash(told.Last.Leaf)
		for _, h := range told.Last.Proof {
			g.Last.Proof = append(g.Last.Proof, tlog.Hash(h))
		}
	}
	return g, nil
}

// tie fills in the last entry of the ledger of so many entries, with its path in the tree of the receipt.
func (c *Client) tie(ctx context.Context, g *Given, signed []byte, since uint64) (err error) {
	head, _ := audit.CheckpointText(signed) // of a file that was proved
	tiles := &tileReader{c: c, ctx: ctx}
	hashes := tlog.TileHashReader(tlog.Tree{N: int64(head.Size), Hash: head.Root}, tiles)
	var leaf []tlog.Hash
	if g.Last.Proof, err = tlog.ProveRecord(int64(head.Size), int64(since)-1, hashes); err == nil {
		leaf, err = hashes.ReadHashes([]int64{tlog.StoredHashIndex(0, int64(since)-1)})
	}
	if err != nil { // of the network, or the tiles contradict the checkpoint
		return cmp.Or(tiles.err, c.Check(ctx), err)
	}
	g.Last.Leaf = leaf[0]
	return nil
}

// Cosigned returns the receipt of an entry under a checkpoint that the quorum of Config.Policy cosigned. It asks again
// with growing pauses, Config.Attempts times at most. Then it returns ErrNotWitnessed.
func (c *Client) Cosigned(ctx context.Context, index uint64) (string, error) {
	e, err := c.cosigned(ctx, index)
	return e.receipt, err
}

func (c *Client) cosigned(ctx context.Context, index uint64) (e proved, err error) {
	err = c.untilWitnessed(ctx, func() (err error) {
		if e, err = c.receipt(ctx, index); err == nil {
			err = c.seen(e)
		}
		return err
	})
	return e, err
}

// seen returns ErrNotWitnessed unless the policy's quorum cosigned the checkpoint that the entry is proved under.
func (c *Client) seen(e proved) error {
	if c.policy.Asks() && !c.policy.Satisfied(e.signed) {
		return fmt.Errorf("entry %d: %w", e.index, ErrNotWitnessed)
	}
	return nil
}

// Asked returns the deal of an order that begins at place first, nil if there is none. It is for a caller that asked
// for the deal and did not get the answer, or forgot it. That there is none is the daemon's word.
func (c *Client) Asked(ctx context.Context, order uint64, first int, since uint64) (*Given, error) {
	answer, err := c.getShuffle(ctx, order)
	told, err := decoded[ShuffleState](answer, err)
	if err != nil || told.Next <= first {
		return nil, err
	}
	_, _, file, err := c.transcript(ctx, order, "", c.full)
	if err != nil {
		return nil, err
	}
	for i, text := range file.Receipts {
		_, e, _ := audit.ReceiptEntry(text) // of a file that was proved
		if d, ok := e.Body.(*audit.Deal); ok && d.First == first {
			g := &Given{Receipt: file.Receipt(i), Cards: slices.DeleteFunc(file.Cards, func(card openings.Card) bool {
				return card.Place < first || card.Place >= first+d.Count()
			})}
			return g, c.tie(ctx, g, []byte(file.Checkpoint), since)
		}
	}
	return nil, &Fault{What: fmt.Sprintf("no deal of the order begins at place %d", first), Answer: answer}
}

// EndOrder closes an order, and returns its close as Ask returns a deal. follows is the receipt of the close of the
// shuffle that the order was for. An order that nothing was dealt from is closed as void. It is no error if the order
// was closed before, or is to expire: then it has no close yet, and the result is nil.
func (c *Client) EndOrder(ctx context.Context, order uint64, follows string, since uint64) (*Given, error) {
	_, err := c.closeShuffle(ctx, order, CloseRequest{Outcome: OutcomeCompleted, Follows: &follows})
	if e, ok := errors.AsType[*Error](err); ok && e.Code == CodeCoDealer {
		_, err = c.closeShuffle(ctx, order, CloseRequest{Outcome: OutcomeVoid, Reason: new(ReasonGameCancelled)})
	}
	if e, ok := errors.AsType[*Error](err); ok && e.Code == CodeDeadline {
		return nil, nil
	} else if err != nil && (!ok || e.Code != CodeRepeated) {
		return nil, err
	}
	_, _, file, err := c.transcript(ctx, order, "", c.full)
	if err != nil {
		return nil, err
	}
	g := &Given{Receipt: file.Receipt(len(file.Receipts) - 1)}
	return g, c.tie(ctx, g, []byte(file.Checkpoint), since)
}
