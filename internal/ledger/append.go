package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"shuffled/internal/audit"
)

// Proposal asks for entries that stand together in one batch, all or none. The
// sequencer fills in what depends on their place: the time; of a commit the serial, the
// previous index, the instance and, if it is 0, the close-by; of a deal or mix the checkpoint.
type Proposal struct {
	Actor  audit.Actor
	Bodies []audit.Body // not changed
	Kept   [][]byte     // for each body what its Row keeps alongside it, or nil; may be shorter
	Decks  []Deck       // named by its commits, unless the store is known to hold them
	Rests  []Rest       // what it needs alongside the rules

	starts bool // the first body is our instance_start
}

// Rest is what a proposal rests on: what was read of a shuffle before the proposal was made. The next place to deal is
// Next, and Public of the dealt places are public. If that is no longer so, nothing is written, and the error is Moved.
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

// Answer is what Append returns of one proposal.
type Answer struct {
	Appended []Appended
	Err      error
}

// A BodyError is the refusal of a proposal because of one of its bodies.
type BodyError struct {
	Body int // index
	Err  error
}

func (e *BodyError) Error() string { return e.Err.Error() }
func (e *BodyError) Unwrap() error { return e.Err }

// request is a proposal on its way through the sequencer.
type request struct {
	Proposal
	claim atomic.Int32 // waiting, then claimed by the sequencer or withdrawn by its caller
	reply chan Answer  // of capacity 1

	// Fields of the sequencer's goroutine.
	tries uint64 // how often it lost the compare-and-swap
	stale bool   // its newest append was refused although the head had not moved
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

// AppendAll is Append of several proposals, each with its own answer. They are appended in this order, as many together
// as fit into a batch. Each sees what those before it wrote, and no entry of others comes between the bodies of one.
func (l *Ledger) AppendAll(ctx context.Context, all []Proposal) []Answer {
	answers, requests := make([]Answer, len(all)), make([]*request, len(all))
	for i, p := range all {
		requests[i] = newRequest(p)
	}
	sent := 0
	var refused error
	for sent < len(requests) && refused == nil {
		n := portion(requests[sent:])
		if refused = l.enqueue(requests[sent : sent+n]...); refused == nil {
			sent += n
		}
	}
	for i, r := range requests {
		if i < sent {
			answers[i] = l.await(ctx, r)
		} else {
			answers[i].Err = refused
		}
	}
	return answers
}

// portion returns how many of the requests, at least one, go into the queue together: about
// half a batch, because gather takes what is together as a whole.
func portion(requests []*request) (n int) {
	entries, bytes := 0, 0
	for n < len(requests) && (n == 0 || entries < maxBatchEntries/2 && bytes < maxBatchBytes/2) {
		entries += len(requests[n].Bodies)
		bytes += requests[n].size()
		n++
	}
	return n
}

// AppendTogether is Append of several proposals by one actor, all of them or none. With an error it returns the index
// of the proposal that was refused, or -1 if the error is about none in particular.
func (l *Ledger) AppendTogether(ctx context.Context, all []Proposal) (answers [][]Appended, of int, err error) {
	whole := Proposal{Actor: all[0].Actor}
	for _, p := range all {
		for _, rest := range p.Rests {
			rest.Body += len(whole.Bodies)
			whole.Rests = append(whole.Rests, rest)
		}
		whole.Bodies = append(whole.Bodies, p.Bodies...)
		whole.Kept = append(whole.Kept, p.Kept...)
		whole.Kept = append(whole.Kept, make([][]byte, len(whole.Bodies)-len(whole.Kept))...)
		whole.Decks = append(whole.Decks, p.Decks...)
	}
	if len(whole.Bodies) > maxBatchEntries || newRequest(whole).size() > maxBatchBytes {
		return nil, -1, ErrTooLarge
	}
	appended, err := l.Append(ctx, whole)
	if err != nil {
		return nil, blamed(all, err), err
	}
	for _, p := range all {
		answers = append(answers, appended[:len(p.Bodies)])
		appended = appended[len(p.Bodies):]
	}
	return answers, -1, nil
}

// blamed returns which of the proposals an error is about, or -1.
func blamed(all []Proposal, err error) int {
	var body *BodyError
	var duplicate *DuplicateError
	switch {
	case errors.As(err, &body):
		n := body.Body
		for i, p := range all {
			if n -= len(p.Bodies); n < 0 {
				return i
			}
		}
	case errors.As(err, &duplicate):
		return slices.IndexFunc(all, func(p Proposal) bool {
			c, ok := p.Bodies[0].(*audit.Commit)
			return ok && slices.Contains(duplicate.Tags, c.KeyTag)
		})
	}
	return -1
}

// enqueue hands requests to the sequencer, which takes them one behind another, and no other request between them.
func (l *Ledger) enqueue(requests ...*request) error {
	select {
	case <-l.running.Done():
		return ErrClosed
	case l.queue <- requests:
		return nil
	default:
		return ErrOverloaded
	}
}

// await waits for the answer to a request in the queue, and withdraws the request if nothing
// has been written when the wait is over.
func (l *Ledger) await(ctx context.Context, r *request) Answer {
	patient, cancel := Patience(ctx)
	defer cancel()
	select {
	case a := <-r.reply:
		return a
	case <-patient.Done():
	case <-l.done:
	}
	if r.claim.CompareAndSwap(waiting, withdrawn) {
		switch {
		case ctx.Err() != nil:
			return Answer{Err: ctx.Err()}
		case patient.Err() != nil:
			return Answer{Err: fmt.Errorf("%w: it did not move in time", ErrOverloaded)}
		}
		return Answer{Err: ErrClosed}
	}
	select { // the sequencer has it: only ctx ends the wait
	case a := <-r.reply:
		return a
	case <-ctx.Done():
	case <-l.done:
	}
	select {
	case a := <-r.reply:
		return a
	default:
		return Answer{Err: withCause(fmt.Errorf("%w: the time to wait for the outcome ended", ErrUnknownOutcome), CauseOf(l.Ready()))}
	}
}

// logAct logs an administrative entry when it is durable: who did what, to what, and with which
// credential. The entry has the rest, such as the reason.
func (l *Ledger) logAct(index uint64, e audit.Entry) {
	var what, of string
	switch b := e.Body.(type) {
	case *audit.Key:
		what, of = "key_"+b.Subject.String(), b.Name
	case *audit.Credential:
		what, of = "credential_"+b.Kind.String(), b.ID
	case *audit.ActEntry:
		what = "act_" + b.Act.String()
	case *audit.Takeover:
		what, of = "takeover_"+b.Extent.String(), l.cfg.Info.Name
	case *audit.Event:
		switch b.Kind {
		case audit.EventTableOpen, audit.EventTableClose, audit.EventKillSet, audit.EventKillClear,
			audit.EventLatchClear, audit.EventHeadAdopted:
			what, of = b.Kind.String(), b.Name
		}
	}
	if what == "" || e.Actor == audit.Daemon { // most often the daemon's disclosure key
		return
	}
	l.cfg.Log.Info("administrative act", "ledger", l.cfg.Info.Name, "entry", index, "act", what, "of", of,
		"identity", e.Actor.Identity, "credential", e.Actor.Credential)
}
