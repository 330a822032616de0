package dealer

import (
	"context"
	"errors"
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
func (d *Dealer) Shuffles(ctx context.Context, actor audit.Actor, key string, req ShuffleRequest, count int) ([]Shuffle, error) {
	if err := audit.CheckIdempotencyKey(key); err != nil {
		return nil, &RequestError{"Idempotency-Key", err.Error()}
	}
	c, deck, err := req.context(d.cfg.Ledger.Genesis())
	if err == nil {
		err = req.batch(count, deck.Len())
	}
	if err != nil {
		return nil, err
	}
	b := &batch{
		asked: asked{context: c, deck: deck, closeBy: req.CloseBy, gameRef: req.GameRef},
		hash:  req.hashOf(count), tags: make([][32]byte, count),
	}
	for i := range b.tags {
		b.tags[i] = audit.KeyTagOf(c.Origin, actor.Identity, c.Table, key, i)
	}
	end, err := d.underway.begin(ctx, b.tags[0])
	if err != nil {
		return nil, err
	}
	defer end()
	taken := d.cfg.Ledger.NewKey(b.tags[0])
	if !taken {
		if s, err := d.repeatBatch(ctx, b); !errors.Is(err, ledger.ErrNotFound) {
			return s, err
		}
	}
	waiting, cancel := ledger.Patience(ctx)
	err = d.batches.Acquire(waiting, int64(count))
	cancel()
	if err != nil {
		return nil, fmt.Errorf("%w: waiting for other batches: %w", ledger.ErrOverloaded, err)
	}
	defer d.batches.Release(int64(count))
	s, err := d.newBatch(ctx, actor, b)
	var duplicate *ledger.DuplicateError
	if err != nil && (errors.As(err, &duplicate) || mayRepeat(ctx, err, taken)) {
		// A copy of this request may have been first.
		if s, err := d.repeatBatch(ctx, b); !errors.Is(err, ledger.ErrNotFound) {
			return s, err
		}
		if duplicate != nil {
			err = d.refused(ledger.ErrNotFound, duplicate)
		}
	}
	return s, err
}

// batch is a request for several commits under one key.
type batch struct {
	asked asked
	hash  [32]byte   // of the request
	tags  [][32]byte // of the commits, in order
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
		return &RequestError{"count", fmt.Sprintf("times the cards of the deck is at most %d: %d for these %d cards", MaxBatchCards, MaxBatchCards/n, n)}
	}
	return nil
}

// newBatch draws the tapes and appends the commits to them.
func (d *Dealer) newBatch(ctx context.Context, actor audit.Actor, b *batch) ([]Shuffle, error) {
	c, _, err := d.settle(ctx, actor, b.asked)
	if err != nil {
		return nil, err
	}
	p := ledger.Proposal{Actor: actor, Bodies: make([]audit.Body, len(b.tags)), Sealed: make([][]byte, len(b.tags)), Deck: d.newDeck(&b.asked)}
	for i, tag := range b.tags {
		if err := ctx.Err(); err != nil {
			return nil, err // nobody waits for it, and nothing was written
		}
		commit, sealed, err := d.commit(c, nil)
		if err != nil {
			return nil, err
		}
		b.asked.complete(commit, tag, b.hash)
		p.Bodies[i], p.Sealed[i] = commit, sealed
	}
	appended, err := d.appendFresh(ctx, c, p)
	if err != nil {
		return nil, err
	}
	d.keptDeck(p.Deck)
	answers := make([]Shuffle, len(appended))
	for i, a := range appended {
		answers[i] = shuffleAnswer(a.Index, a.Entry.Body.(*audit.Commit), a.Entry.Time, a.Receipt.Text())
	}
	return answers, nil
}

// repeatBatch answers a key that is in the ledger; ledger.ErrNotFound when it is
// not. The commits stand or fall together, so the first one speaks for all.
func (d *Dealer) repeatBatch(ctx context.Context, b *batch) ([]Shuffle, error) {
	row, _, at, err := d.keyed(ctx, b.tags[0], b.hash)
	if err != nil {
		return nil, err
	}
	rows, commits, err := d.committed(ctx, row.Index, b.tags)
	if err != nil {
		return nil, err
	}
	receipts, err := d.cfg.Ledger.FirstReceipts(ctx, rows)
	if err != nil {
		return nil, err
	}
	answers := make([]Shuffle, len(rows))
	for i := range rows {
		answers[i] = shuffleAnswer(rows[i].Index, commits[i], at, receipts[i])
		answers[i].Repeated = true
	}
	return answers, nil
}

// committed reads the adjacent commits with these tags.
func (d *Dealer) committed(ctx context.Context, from uint64, tags [][32]byte) (rows []ledger.Row, commits []*audit.Commit, err error) {
	for row, err := range d.cfg.Store.Rows(ctx, d.cfg.Ledger.ID(), from, from+uint64(len(tags))) {
		if err != nil {
			return nil, nil, fmt.Errorf("reading entries from %d: %w", from, ledger.Unavailable(err))
		}
		rows = append(rows, row)
	}
	if len(rows) != len(tags) {
		return nil, nil, fmt.Errorf("%w: %d of the %d entries from %d are there", ledger.ErrFrozen, len(rows), len(tags), from)
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
