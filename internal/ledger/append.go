package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"shuffled/internal/audit"
	"shuffled/internal/stops"
)

// AppendAll is Append of several proposals in this order, as many together as fit into a batch, and none behind a batch
// that fails. Each sees what those before it wrote, and no entry of others comes between the bodies of one.
func (l *Core) AppendAll(ctx context.Context, all []Proposal) []Answer {
	answers, requests := make([]Answer, len(all)), make([]*Request, len(all))
	for i, p := range all {
		requests[i] = NewRequest(p)
	}
	var failed error
	for from, n := 0, 0; from < len(all); from += n {
		n = portion(requests[from:])
		if failed == nil {
			failed = l.enqueue(requests[from : from+n]...)
		}
		refused := failed
		for i := from; i < from+n; i++ {
			if answers[i].Err = refused; refused == nil {
				answers[i] = l.await(ctx, requests[i], requests[i+1:from+n]...)
			}
			_, moved := errors.AsType[*BodyError](answers[i].Err)
			if answers[i].Err != nil && !moved && !Refused(answers[i].Err) {
				failed = ErrBehind
			}
		}
	}
	return answers
}

// Refused reports whether a rule or a key tag refused a proposal, of which nothing was written.
func Refused(err error) bool {
	_, illegal := errors.AsType[*audit.Illegal](err)
	_, duplicate := errors.AsType[*DuplicateError](err)
	return illegal || duplicate
}

// portion returns how many of the requests, at least one, go into the queue together: about
// half a batch, because gather takes what is together as a whole.
func portion(requests []*Request) (n int) {
	entries, bytes := 0, 0
	for n < len(requests) && (n == 0 || entries < MaxBatchEntries/2 && bytes < MaxBatchBytes/2) {
		entries += len(requests[n].Bodies)
		bytes += requests[n].Size()
		n++
	}
	return n
}

// AppendTogether is Append of several proposals by one actor, all of them or none. If one of them is refused, the
// answers of the others have the error others; an error that is about none in particular is in all answers.
func (l *Core) AppendTogether(ctx context.Context, all []Proposal, others error) []Answer {
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
	var appended []Appended
	err := ErrTooLarge
	if len(whole.Bodies) <= MaxBatchEntries && NewRequest(whole).Size() <= MaxBatchBytes {
		appended, err = l.Append(ctx, whole)
	}
	answers, of := make([]Answer, len(all)), blamed(all, err)
	for i, p := range all {
		switch {
		case err == nil:
			answers[i].Appended, appended = appended[:len(p.Bodies)], appended[len(p.Bodies):]
		case of < 0 || i == of:
			answers[i].Err = err
		default:
			answers[i].Err = others
		}
	}
	return answers
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
func (l *Core) enqueue(requests ...*Request) error {
	select {
	case <-l.life.Running.Done():
		return ErrClosed
	case l.life.Queue <- requests:
		return nil
	default:
		return ErrOverloaded
	}
}

// await waits for the answer to a request in the queue, and withdraws the request if nothing has been written when the
// wait is over, behind those that come after it: the sequencer must take none of these without the request.
func (l *Core) await(ctx context.Context, r *Request, after ...*Request) Answer {
	patient, cancel := Patience(ctx)
	defer cancel()
	select {
	case a := <-r.Reply:
		return a
	case <-patient.Done():
	case <-l.life.Done:
	}
	for _, later := range slices.Backward(after) {
		later.claim.CompareAndSwap(waiting, withdrawn)
	}
	if r.claim.CompareAndSwap(waiting, withdrawn) || r.claim.Load() == withdrawn {
		switch {
		case ctx.Err() != nil:
			return Answer{Err: ctx.Err()}
		case patient.Err() != nil:
			return Answer{Err: fmt.Errorf("%w: it did not move in time", ErrOverloaded)}
		}
		return Answer{Err: ErrClosed}
	}
	select { // the sequencer has it: only ctx ends the wait
	case a := <-r.Reply:
		return a
	case <-ctx.Done():
	case <-l.life.Done:
	}
	select {
	case a := <-r.Reply:
		return a
	default:
		return Answer{Err: stops.With(fmt.Errorf("%w: the time to wait for the outcome ended", ErrUnknownOutcome), stops.Of(l.Ready()))}
	}
}

// Append writes the proposal and returns its entries with their receipts when they are durable. With these errors
// nothing was written: an *audit.Illegal if a rule forbids an entry; a *DuplicateError if a key tag is in the ledger;
// ErrOverloaded if the queue is full, or if the patience of ctx ends while the proposal waits in it; ErrFrozen,
// ErrClock, ErrUnavailable and ErrClosed. If ctx ends while the proposal is being written, the error is
// ErrUnknownOutcome.
func (l *Core) Append(ctx context.Context, p Proposal) ([]Appended, error) {
	for _, body := range p.Bodies {
		if act, ok := body.(*audit.ActEntry); ok && act.HeadSize > 0 {
			if err := l.saw(ctx, audit.Head{Size: act.HeadSize, Root: act.HeadRoot}); err != nil {
				return nil, err
			}
		}
	}
	a := l.AppendAll(ctx, []Proposal{p})[0]
	return a.Appended, a.Err
}

// saw returns an *audit.Illegal if the entries have another root than a head that administrators saw: they signed for
// another history, and an audit refuses that (docs/SPEC.md section 14.1). Rule act refuses a size that is too large.
func (l *Core) saw(ctx context.Context, head audit.Head) error {
	if size, err := l.Reach(ctx, head.Size); err != nil || head.Size > size {
		return err
	}
	extends, err := l.Extends(ctx, l.Head(), audit.Checkpoint{Size: head.Size, Root: head.Root})
	if err == nil && !extends {
		err = &audit.Illegal{Code: audit.RuleAct,
			Detail: fmt.Sprintf("the act names another root than the first %d entries have", head.Size)}
	}
	return err
}
