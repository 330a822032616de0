// Package recall finds shuffles: by table, serial, time, game reference and
// state, in pages. It keeps an index beside the evidence, which it fills from the
// entries after they were appended, so that no append waits for it and no question
// reads an entry that was read before. The index is no evidence: what it leads to
// is proved by receipts, and it may be removed and is made again.
//
// The index lags. Find therefore brings it up to the end of the ledger before it
// asks, and answers with an error if that takes too long: what it does answer is
// whole. Several daemons may fill one index at once: every step moves the mark
// from where it began, and one that began elsewhere is not written.
//
// Retention removes from the index the shuffles that were closed long enough ago,
// and the requests of regulators that are old enough, and nothing else.
package recall

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
)

// MaxPage is the largest number of shuffles that Find returns.
const MaxPage = 1000

// Store is what recall needs of a store.
type Store interface {
	ledger.RecallStore
	Rows(ctx context.Context, id ledger.ID, from, to uint64) iter.Seq2[ledger.Row, error]
}

// Bounds of the work that is done at once.
const (
	stepEntries = 4096 // entries that are read and written in one step
	findSteps   = 16   // steps that a question waits for
)

// followEvery is how far the index lags behind while nobody asks.
const followEvery = 5 * time.Second

// Index is the index of one ledger. All methods are safe for concurrent use.
type Index struct {
	id    ledger.ID
	store Store
	log   *slog.Logger

	// turn holds a value while somebody fills the index: a second one in this
	// process would do the same work for nothing.
	turn chan struct{}

	step int           // stepEntries
	tick time.Duration // followEvery
}

// New returns the index of a ledger. Nothing runs until its methods are called.
func New(id ledger.ID, store Store, log *slog.Logger) *Index {
	return &Index{id: id, store: store, log: log, turn: make(chan struct{}, 1), step: stepEntries, tick: followEvery}
}

// Find returns shuffles by id: those of q that the ledger held when Find was
// called, but for what retention has removed. At most q.Limit of them, which is 1
// to MaxPage; the next page begins after the last. It returns an error that matches
// ledger.ErrUnavailable when the index is still far behind the ledger, or the
// store does not answer.
func (x *Index) Find(ctx context.Context, q ledger.RecallQuery) ([]ledger.Recalled, error) {
	if q.Limit < 1 || q.Limit > MaxPage {
		return nil, fmt.Errorf("recall of %d shuffles: 1 to %d", q.Limit, MaxPage)
	}
	done, err := x.catchUp(ctx, findSteps)
	switch {
	case err != nil:
		return nil, fmt.Errorf("filling the index of recall: %w", ledger.Unavailable(err))
	case !done:
		return nil, fmt.Errorf("the index of recall is far behind the ledger, and is being filled: %w", ledger.ErrUnavailable)
	}
	list, err := x.store.Recall(ctx, x.id, q)
	if err != nil {
		return nil, fmt.Errorf("asking the index of recall: %w", ledger.Unavailable(err))
	}
	return list, nil
}

// Follow keeps the index near the end of the ledger until ctx ends. It is for a
// goroutine of the caller's.
func (x *Index) Follow(ctx context.Context) {
	tick := time.NewTicker(x.tick)
	defer tick.Stop()
	failing := false
	for {
		// A few steps at a time, so that questions have their turn.
		done, err := x.catchUp(ctx, findSteps)
		if ctx.Err() != nil {
			return
		}
		if err != nil && !failing { // once, not every time
			x.log.Error("filling the index of recall", "error", err)
		}
		failing = err != nil
		if err == nil && !done {
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// catchUp adds entries up to the end of the ledger, in at most so many steps, and
// reports whether it reached the end.
func (x *Index) catchUp(ctx context.Context, steps int) (done bool, err error) {
	select {
	case x.turn <- struct{}{}:
		defer func() { <-x.turn }()
	case <-ctx.Done():
		return false, ctx.Err()
	}
	for range steps {
		mark, err := x.store.RecallMark(ctx, x.id)
		if err != nil {
			return false, err
		}
		step, err := x.read(ctx, mark)
		if err != nil {
			return false, err
		}
		if step.Next == mark.Next {
			return true, nil
		}
		err = x.store.PutRecall(ctx, x.id, mark, step)
		switch {
		case errors.Is(err, ledger.ErrStale): // another daemon was faster
		case err != nil:
			return false, err
		case step.Next-mark.Next < uint64(x.step):
			return true, nil
		}
	}
	return false, nil
}

// read makes a step from the entries that follow a mark.
func (x *Index) read(ctx context.Context, mark ledger.RecallMark) (ledger.RecallStep, error) {
	b := builder{dropped: mark.Dropped, at: make(map[uint64]int)}
	next := mark.Next
	for row, err := range x.store.Rows(ctx, x.id, next, next+uint64(x.step)) {
		if err != nil {
			return ledger.RecallStep{}, err
		}
		if row.Index != next {
			return ledger.RecallStep{}, fmt.Errorf("entry %d stands where entry %d should", row.Index, next)
		}
		if err := b.add(row); err != nil {
			return ledger.RecallStep{}, fmt.Errorf("entry %d: %w", next, err)
		}
		next++
	}
	return b.step(next), nil
}

// builder makes a step of entries. A shuffle whose commit and close are both in it
// is written once.
type builder struct {
	dropped int64 // the mark's
	commits []ledger.Recalled
	at      map[uint64]int // places in commits by id
	later   ledger.RecallStep
}

func (b *builder) add(row ledger.Row) error {
	if row.Type != audit.TypeCommit && row.Type != audit.TypeClose {
		return nil // also what a later version may add
	}
	e, err := audit.ParseEntry(row.Entry)
	if err != nil {
		return err
	}
	switch body := e.Body.(type) {
	case *audit.Commit:
		b.at[row.Index] = len(b.commits)
		b.commits = append(b.commits, commit(row.Index, e.Time, body))
	case *audit.Close:
		b.close(ledger.RecallClose{ID: body.Shuffle, Time: e.Time, Outcome: body.Outcome, Reason: body.Reason})
	}
	return nil
}

func commit(index uint64, time int64, c *audit.Commit) ledger.Recalled {
	r := ledger.Recalled{
		ID: index, Table: c.Context.Table, Serial: c.Serial, Committed: time, CloseBy: c.CloseBy,
		GameRef: c.GameRef, Draw: c.Context.IsDraw(),
	}
	if c.Context.Parent != nil {
		r.Parent = c.Context.Parent.ID
	}
	return r
}

func (b *builder) close(c ledger.RecallClose) {
	i, here := b.at[c.ID]
	switch {
	case here: // outdated or not, which step decides
		r := &b.commits[i]
		r.Closed, r.Outcome, r.Reason = c.Time, c.Outcome, c.Reason
	case c.Time < b.dropped:
		b.later.Outdated = append(b.later.Outdated, c.ID)
	default:
		b.later.Closes = append(b.later.Closes, c)
	}
}

// step returns what was added, without the shuffles that retention has removed.
func (b *builder) step(next uint64) ledger.RecallStep {
	s := b.later
	s.Next = next
	for _, r := range b.commits {
		if r.Closed == 0 || r.Closed >= b.dropped {
			s.Commits = append(s.Commits, r)
		} else {
			// It may be there: the index is made again over itself.
			s.Outdated = append(s.Outdated, r.ID)
		}
	}
	return s
}
