package dealer

import (
	"context"
	"fmt"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
)

// Limits of a batch. The cards, count times those of the deck, bound the work of
// one request: of standard-52 there are 256 in it, of shoe-8 157, of 4,096 cards 16.
const (
	MinCount      = 2
	MaxCount      = 256
	MaxBatchCards = 65_536
)

// maxInBatches is how many commits of batches are drawn and appended at a time. It
// bounds their memory, and how many of them a single commit finds in front of it.
const maxInBatches = 2048

// Shuffles commits to count shuffles as [Dealer.Shuffle] does to one, each to a
// tape of its own. Their commits are adjacent entries of one batch, all of them or
// none, in the order of their serials. The key repeats the whole answer.
func (d *Dealer) Shuffles(ctx context.Context, actor audit.Actor, key string, req ShuffleRequest, count int) ([]Shuffle,
	error) {
	c, deck, err := req.context(d.cfg.Ledger.Genesis())
	if err == nil {
		err = req.batch(count, deck.Len())
	}
	return d.serve(ctx, actor, key, &asked{
		context: c, deck: deck, hash: func() [32]byte { return req.hashOf(count) },
		closeBy: req.CloseBy, gameRef: req.GameRef, count: count,
	}, err)
}

// enterBatches waits until n commits may be worked on; one needs no place. The caller
// calls leave.
func (d *Dealer) enterBatches(ctx context.Context, n int) (leave func(), err error) {
	if n == 1 {
		return func() {}, nil
	}
	waiting, cancel := ledger.Patience(ctx)
	defer cancel()
	if err := d.batches.Acquire(waiting, int64(n)); err != nil {
		return nil, fmt.Errorf("%w: waiting for other batches: %w", ledger.ErrOverloaded, err)
	}
	return func() { d.batches.Release(int64(n)) }, nil
}

// batch reports why count shuffles of n cards cannot be asked for at once.
func (r *ShuffleRequest) batch(count, n int) error {
	switch {
	case count < MinCount || count > MaxCount:
		return &RequestError{"count", fmt.Sprintf("is %d to %d; one shuffle goes without it", MinCount, MaxCount)}
	case r.Parent != nil:
		return &RequestError{"count", "goes without parent, which continues once"}
	case r.Plan != nil && len(r.Plan.Slots) > 0:
		return &RequestError{"count", "goes without mix.slots, each of which is good for one commit"}
	case count*n > MaxBatchCards:
		return &RequestError{"count", fmt.Sprintf("times the cards of the deck is at most %d: %d for these %d cards",
			MaxBatchCards, MaxBatchCards/n, n)}
	}
	return nil
}

// committed reads the adjacent commits with these tags.
func (d *Dealer) committed(ctx context.Context, from uint64, tags [][32]byte) (rows []ledger.Row,
	commits []*audit.Commit, err error) {
	for row, err := range d.cfg.Store.Rows(ctx, d.cfg.Ledger.ID(), from, from+uint64(len(tags))) {
		if err != nil {
			return nil, nil, fmt.Errorf("reading entries from %d: %w", from, ledger.Unavailable(err))
		}
		rows = append(rows, row)
	}
	if len(rows) != len(tags) {
		return nil, nil, fmt.Errorf("%w: %d of the %d entries from %d are there", ledger.ErrFrozen, len(rows),
			len(tags), from)
	}
	if err := d.cfg.Ledger.Authentic(ctx, rows); err != nil {
		return nil, nil, err
	}
	commits = make([]*audit.Commit, len(rows))
	for i, row := range rows {
		if commits[i], _, err = committedUnder(row, tags[i]); err != nil {
			return nil, nil, err
		}
	}
	return rows, commits, nil
}
