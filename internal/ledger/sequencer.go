package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
)

// Limits of one batch. A batch is what arrived while the last one was
// committing; these bound its memory.
const (
	maxBatchEntries = 1024
	maxBatchBytes   = 8 << 20
)

// Proposal asks for entries that stand together in one batch, all or none. The
// sequencer fills what depends on their place: time; a commit's serial, previous
// index, instance and (where it is 0) close-by; a deal's and mix's checkpoint.
type Proposal struct {
	Actor  audit.Actor
	Bodies []audit.Body // not changed
	Kept   [][]byte     // for each body what its Row keeps alongside it, or nil; may be shorter
	Decks  []Deck       // that its commits name, where the store may not hold them
	Rests  []Rest       // what it rests on alongside the rules

	starts bool // the first body is our instance_start
}

// Rest is what a proposal read of a shuffle before it was made: that the next
// place to deal is Next, and so many of the dealt places are public. If it is not so
// by then, nothing is written, and the error is Moved.
type Rest struct {
	Shuffle uint64
	Next    int
	Public  int
	Body    int // index of the body in front of which it holds
	Moved   error
}

func (r Rest) holds(o audit.Opened) bool { return o.Next == r.Next && o.Public() == r.Public }

// Appended is one entry that is durable.
type Appended struct {
	Index   uint64
	Entry   audit.Entry
	Receipt audit.Receipt
}

// request is a proposal on its way through the sequencer.
type request struct {
	Proposal
	claim atomic.Int32 // waiting, then claimed by the sequencer or withdrawn by its caller
	tries uint64       // that lost the compare-and-swap; the sequencer's
	stale bool         // its newest append was refused, and the head had not moved; the sequencer's
	reply chan Answer  // of capacity 1
}

const (
	waiting = iota
	claimed
	withdrawn
)

func newRequest(p Proposal) *request { return &request{Proposal: p, reply: make(chan Answer, 1)} }

func (r *request) answer(a Answer) { r.reply <- a }

// size is about how many bytes the request adds to a batch.
func (r *request) size() (n int) {
	for _, s := range r.Kept {
		n += len(s)
	}
	for _, b := range r.Bodies {
		if d, ok := audit.DisclosedBy(b); ok {
			n += len(d.Tape)
		}
	}
	for _, deck := range r.Decks {
		for _, name := range deck.Cards {
			n += 1 + len(name)
		}
	}
	return n
}

// Append writes the proposal and returns its entries with their receipts when
// they are durable. It returns an *audit.Illegal, with nothing written, when a
// rule forbids them; a *DuplicateError when a key tag is in the ledger;
// ErrOverloaded at once when the queue is full, and when the patience of ctx ends
// while the proposal waits there; ErrFrozen, ErrClock, ErrUnavailable or ErrClosed,
// with nothing written. When ctx ends while the proposal is being written, the
// result is ErrUnknownOutcome.
func (l *Ledger) Append(ctx context.Context, p Proposal) ([]Appended, error) {
	r := newRequest(p)
	if err := l.enqueue(r); err != nil {
		return nil, err
	}
	return l.await(ctx, r)
}

// enqueue hands requests to the sequencer, which takes them in this order and nothing
// between them.
func (l *Ledger) enqueue(requests ...*request) error {
	select {
	case <-l.stop:
		return ErrClosed
	case l.queue <- requests:
		return nil
	default:
		return ErrOverloaded
	}
}

// await returns the answer to a request in the queue, as Append does.
func (l *Ledger) await(ctx context.Context, r *request) ([]Appended, error) {
	impatience, stop := Impatience(ctx)
	defer stop()
	for waits := true; waits; {
		select {
		case a := <-r.reply:
			return a.Appended, a.Err
		case <-impatience: // once
			if r.claim.CompareAndSwap(waiting, withdrawn) {
				return nil, fmt.Errorf("%w: it does not move", ErrOverloaded)
			}
		case <-l.done:
			waits = false
		case <-ctx.Done():
			waits = false
		}
	}
	if r.claim.CompareAndSwap(waiting, withdrawn) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, ErrClosed
	}
	select {
	case a := <-r.reply:
		return a.Appended, a.Err
	default:
		return nil, withCause(fmt.Errorf("%w: gave up waiting for it", ErrUnknownOutcome), CauseOf(l.Ready()))
	}
}

// sequence is the sequencer's goroutine; Close stops it.
func (l *Ledger) sequence() {
	defer close(l.done)
	probe := time.NewTicker(l.cfg.Probe)
	defer probe.Stop()
	for {
		select {
		case <-l.stop:
			l.to(phaseClosed, ErrClosed)
			return
		case <-probe.C:
			l.recheck()
		case ask := <-l.asks:
			ask()
		case r := <-l.queue:
			l.process(l.gather(r))
		}
	}
}

// ask runs a function on the sequencer's goroutine, between two batches, and
// waits for its end. It returns ctx's error, or ErrClosed, when it did not run.
func (l *Ledger) ask(ctx context.Context, what func()) error {
	done := make(chan struct{})
	select {
	case l.asks <- func() { defer close(done); what() }:
		<-done
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-l.done:
		return ErrClosed
	}
}

// gather takes what waits, up to the limits of one batch.
func (l *Ledger) gather(first []*request) []*request {
	var batch []*request
	entries, bytes := 0, 0
	for requests := first; ; {
		for _, r := range requests {
			if r.claim.CompareAndSwap(waiting, claimed) {
				batch = append(batch, r)
				entries += len(r.Bodies)
				bytes += r.size()
			}
		}
		if entries >= maxBatchEntries || bytes >= maxBatchBytes {
			return batch
		}
		select {
		case requests = <-l.queue:
		default:
			return batch
		}
	}
}

// process writes the batch, again and again until every request has its answer.
func (l *Ledger) process(requests []*request) {
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

// confirm answers the refusals of a draft without entries, if the head shows
// that memory, on which they rest, is current. Otherwise it catches up and
// returns the requests to prepare again.
func (l *Ledger) confirm(d *draft) (again []*request) {
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	known := l.head.Size
	if err := l.catchUp(ctx); err != nil {
		l.unreadable(err)
		answerAll(d.all, l.Ready())
		return nil
	}
	if l.head.Size != known {
		return d.all
	}
	d.answerRefused()
	return nil
}

func answerAll(requests []*request, err error) {
	for _, r := range requests {
		r.answer(Answer{Err: err})
	}
}

// draft is a batch before it is written: entries at their indexes, the head
// that would cover them, and what memory becomes when it is durable.
type draft struct {
	all      []*request // that it answers if it is written, in the order in which they came
	requests []*request // that have entries in it
	refused  []refusal  // that have none, because of a rule; told once memory is known to be right
	later    []*request // that wait for the next batch, because they repeat a key or slot of this one
	entries  []audit.Entry
	batch    Batch
	growth   *growth
	mark     int // of the state, before the first entry
}

type refusal struct {
	request *request
	err     error
}

func (d *draft) answerRefused() {
	for _, r := range d.refused {
		r.request.answer(Answer{Err: r.err})
	}
}

// balked notes that the store refused the draft and that the head had not moved, and
// reports whether that happened to each of its requests the time before.
func (d *draft) balked() (twice bool) {
	twice = true
	for _, r := range d.requests {
		twice, r.stale = twice && r.stale, true
	}
	return twice
}

// prepare gives the requests their places: legality is decided here, in queue
// order. A refusal rests on memory that may be stale and on neighbours that may
// not become durable, so it is kept in the draft until the batch has landed.
func (l *Ledger) prepare(requests []*request) (*draft, error) {
	if err := l.canSign(); err != nil {
		return nil, err
	}
	now, err := l.clock.now(l.state.Time())
	if err != nil {
		l.stepped = err.Error()
		return nil, err
	}
	d := &draft{mark: l.state.Mark()}
	noted := make(map[[32]byte]bool)
	for _, r := range requests {
		alone := len(d.requests) > 0 && (r.rotates() || d.requests[0].rotates())
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
	if err := l.seal(d); err != nil {
		l.state.Rollback(d.mark)
		return nil, err
	}
	return d, nil
}

// place applies the entries of r after those of d, or none of them.
func (l *Ledger) place(d *draft, r *request, now int64) error {
	mark, rows := l.state.Mark(), len(d.batch.Rows)
	refuse := func(err error) error {
		l.state.Rollback(mark)
		d.batch.Rows, d.entries = d.batch.Rows[:rows], d.entries[:rows]
		return err
	}
	if r.starts && l.begun() {
		return errBegun
	}
	if err := l.checkRotation(&r.Proposal); err != nil {
		return err
	}
	for i, b := range r.Bodies {
		for _, rest := range r.Rests {
			if o, ok := l.state.Shuffle(rest.Shuffle); ok && rest.Body == i && !rest.holds(o) {
				return refuse(&BodyError{i, rest.Moved})
			}
		}
		e := audit.Entry{Time: now, Actor: r.Actor, Body: l.fill(b, now)}
		encoded, err := e.Encode()
		if err != nil {
			return refuse(err)
		}
		row := Row{Index: l.state.Size(), Entry: encoded}
		if i < len(r.Kept) {
			row.Kept = r.Kept[i]
		}
		row.Columns(e)
		if err := l.state.Apply(e); err != nil {
			return refuse(&BodyError{i, err})
		}
		d.batch.Rows, d.entries = append(d.batch.Rows, row), append(d.entries, e)
	}
	if !l.state.Complete() {
		return refuse(&audit.Illegal{Code: audit.RulePair,
			Detail: "the close, or the entry that the act approves, does not follow"})
	}
	for _, deck := range r.Decks {
		if !slices.ContainsFunc(d.batch.Decks, func(o Deck) bool { return o.Hash == deck.Hash }) {
			d.batch.Decks = append(d.batch.Decks, deck)
		}
	}
	return nil
}

// fill completes a copy of the body with what depends on its place.
func (l *Ledger) fill(b audit.Body, now int64) audit.Body {
	switch b := b.(type) {
	case *audit.Commit:
		c := *b
		c.Serial, c.Previous = l.state.Next(c.Context.Table)
		c.Instance = l.instance
		if c.CloseBy == 0 {
			c.CloseBy = now + int64(l.state.Genesis().DefaultCloseBy)*1000
			if p := c.Context.Parent; p != nil {
				if parent, ok := l.state.Shuffle(p.ID); ok {
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
	return b
}

// checkpointSize is the size of the newest checkpoint that a deal may name: one that
// witnesses cosigned where the genesis says so, and else the head behind which the draft
// is written.
func (l *Ledger) checkpointSize() uint64 {
	if l.state.Genesis().Deals == audit.DealsCosigned {
		return l.cosignedSize()
	}
	return l.head.Size
}

// seal computes the tree of d and signs its head.
func (l *Ledger) seal(d *draft) error {
	leaves := make([]tlog.Hash, len(d.batch.Rows))
	for i, row := range d.batch.Rows {
		leaves[i] = tlog.RecordHash(row.Entry)
	}
	var err error
	if d.growth, err = l.tree.extend(leaves); err != nil {
		return err
	}
	if d.batch.Tiles, err = d.growth.tiles(); err != nil {
		return err
	}
	root, err := d.growth.root()
	if err != nil {
		return err
	}
	if d.batch.Head, err = l.sign(d, uint64(d.growth.size), root); errors.Is(err, ErrNoKey) {
		l.absent.Store(&err) // the next batch does not wait for the same
	}
	return err
}
