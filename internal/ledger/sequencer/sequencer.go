package sequencer

import (
	"context"
	"errors"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
)

// gather claims what waits, until the limits of one batch are reached.
func (l *Ledger) gather(first []*ledger.Request) []*ledger.Request {
	var batch []*ledger.Request
	entries, bytes := 0, 0
	for requests := first; ; {
		for _, r := range requests {
			if r.Take() {
				batch = append(batch, r)
				entries += len(r.Bodies)
				bytes += r.Size()
			}
		}
		if entries >= ledger.MaxBatchEntries || bytes >= ledger.MaxBatchBytes {
			return batch
		}
		select {
		case requests = <-l.life.Queue:
		default:
			return batch
		}
	}
}

// process writes the requests, in as many batches as it takes, until each has its answer.
func (l *Ledger) process(requests []*ledger.Request) {
	for len(requests) > 0 {
		if l.phase == phaseFrozen {
			answerAll(requests, l.Ready())
			return
		}
		d, err := l.prepare(requests)
		if err != nil {
			l.wait(err)
			answerAll(requests, err)
			return
		}
		if len(d.requests) == 0 {
			requests = append(l.confirm(d), d.later...)
		} else {
			requests = append(l.write(d), d.later...)
		}
	}
}

// confirm answers the refusals of a draft without entries. They rest on memory, so it reads
// the head first: if memory was not current, it returns the requests, to be prepared again.
func (l *Ledger) confirm(d *draft) (again []*ledger.Request) {
	ctx, cancel := context.WithTimeout(context.Background(), ledger.StoreTimeout)
	defer cancel()
	known := l.memory.Head.Size
	if err := l.readNewer(ctx); err != nil {
		answerAll(d.all, err)
		return nil
	}
	if l.memory.Head.Size != known {
		return d.all
	}
	d.answerRefused()
	return nil
}

// prepare makes a draft of the requests. Here the rules decide, in the order of the queue. A
// refusal rests on memory, which may not be current, and on entries before it, which may not
// become durable. So the draft keeps it until the batch has landed.
func (l *Ledger) prepare(requests []*ledger.Request) (*draft, error) {
	if err := l.canSign(); err != nil {
		return nil, err
	}
	now, err := l.clock.now(l.memory.State.Time())
	if err != nil {
		l.stepped = err.Error()
		return nil, err
	}
	d, noted := &draft{mark: l.memory.State.Mark()}, make(map[[32]byte]bool)
	for _, r := range requests {
		alone := len(d.requests) > 0 && (rotates(&r.Proposal) || rotates(&d.requests[0].Proposal))
		if alone || repeats(noted, r) {
			d.later = append(d.later, r)
			continue
		}
		d.all = append(d.all, r)
		if err := l.place(d, r, now); err != nil {
			d.refused = append(d.refused, refusal{r, err})
		} else {
			d.requests = append(d.requests, r)
		}
	}
	if len(d.requests) == 0 {
		return d, nil
	}
	if err := l.signBatch(d); err != nil {
		l.memory.State.Rollback(d.mark)
		return nil, err
	}
	return d, nil
}

// place puts the entries of r behind those of d, all or none.
func (l *Ledger) place(d *draft, r *ledger.Request, now int64) error {
	mark, rows := l.memory.State.Mark(), len(d.batch.Rows)
	refuse := func(err error) error {
		l.memory.State.Rollback(mark)
		d.batch.Rows, d.entries = d.batch.Rows[:rows], d.entries[:rows]
		return err
	}
	if starts(&r.Proposal) && l.begun() {
		return errBegun
	}
	if err := l.checkRotation(&r.Proposal); err != nil {
		return err
	}
	for i, b := range r.Bodies {
		for _, rest := range r.Rests {
			if o, ok := l.memory.State.Shuffle(rest.Shuffle); ok && rest.Body == i && !rest.Holds(o) {
				return refuse(&ledger.BodyError{Body: i, Err: rest.Moved})
			}
		}
		e := audit.Entry{Time: now, Actor: r.Actor, Body: l.fill(b, now)}
		encoded, err := e.Encode()
		if err != nil {
			return refuse(err)
		}
		row := ledger.Row{Index: l.memory.State.Size(), Entry: encoded}
		if i < len(r.Kept) {
			row.Kept = r.Kept[i]
		}
		row.Columns(e)
		if err := l.memory.State.Apply(e); err != nil {
			return refuse(&ledger.BodyError{Body: i, Err: err})
		}
		d.batch.Rows, d.entries = append(d.batch.Rows, row), append(d.entries, e)
	}
	if !l.memory.State.Complete() {
		return refuse(&audit.Illegal{Code: audit.RulePair,
			Detail: "the close, or the entry that the act approves, does not follow"})
	}
	for _, deck := range r.Decks {
		if !slices.ContainsFunc(d.batch.Decks, func(o ledger.Deck) bool { return o.Hash == deck.Hash }) {
			d.batch.Decks = append(d.batch.Decks, deck)
		}
	}
	return nil
}

// fill returns the body with what depends on its place: a copy if anything does.
func (l *Ledger) fill(b audit.Body, now int64) audit.Body {
	switch b := b.(type) {
	case *audit.Commit:
		c := *b
		c.Serial, c.Previous = l.memory.State.Next(c.Context.Table)
		c.Instance = l.instance
		if c.CloseBy == 0 {
			c.CloseBy = now + int64(l.memory.State.Genesis().DefaultCloseBy)*1000
			if p := c.Context.Parent; p != nil {
				if parent, ok := l.memory.State.Shuffle(p.ID); ok {
					c.CloseBy = min(c.CloseBy, parent.Latest)
				}
			}
		}
		return &c
	case *audit.Mix:
		m := *b
		m.Checkpoint = l.checkpointSize()
		return &m
	case *audit.Deal:
		d := *b
		d.Checkpoint = l.checkpointSize()
		return &d
	case *audit.Event:
		if b.Kind == audit.EventLatchSet {
			e := *b
			e.Instance = l.instance
			return &e
		}
	}
	return l.memory.State.Counted(b)
}

// checkpointSize is the size of the checkpoint that a deal or mix names: the newest cosigned
// one if the genesis asks for that, and otherwise the head that the draft is written behind.
func (l *Ledger) checkpointSize() uint64 {
	if l.memory.State.Genesis().Deals == audit.DealsCosigned {
		return l.CosignedSize()
	}
	return l.memory.Head.Size
}

// signBatch computes the tree of d and signs its head.
func (l *Ledger) signBatch(d *draft) error {
	leaves := make([]tlog.Hash, len(d.batch.Rows))
	for i, row := range d.batch.Rows {
		leaves[i] = tlog.RecordHash(row.Entry)
	}
	var err error
	if d.growth, err = l.shown.Tree.Extend(leaves); err != nil {
		return err
	}
	if d.batch.Tiles, err = d.growth.Tiles(); err != nil {
		return err
	}
	root, err := d.growth.Root()
	if err != nil {
		return err
	}
	if d.batch.Head, err = l.sign(rotates(&d.requests[0].Proposal), uint64(d.growth.Size), root); errors.Is(err, ledger.ErrNoKey) {
		l.absent.Store(&err) // the next batch does not wait for the same
	}
	return err
}
