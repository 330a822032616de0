package dealer

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"shuffled/internal/audit"
	"shuffled/internal/dealer/api"
	"shuffled/internal/ledger"
	"shuffled/internal/ledger/sequencer"
)

// Undecided reports whether the same operation may yet be done when it is asked for again, or was done already.
func Undecided(err error) bool {
	return errors.Is(err, ledger.ErrOverloaded) || errors.Is(err, ledger.ErrUnavailable) ||
		errors.Is(err, ledger.ErrUnknownOutcome) || errors.Is(err, ledger.ErrNotWitnessed) ||
		errors.Is(err, api.ErrCoDealer) || errors.Is(err, api.ErrBeaconEarly)
}

// ErrTogether: an operation of a batch was refused, and the batch is all or none.
var ErrTogether = errors.New("another operation of the batch was refused, and all or none was asked for")

// unwritten reports whether a rule or a key refused an entry, or another operation of a batch for all or none. Then the
// entry was certainly not written, and a copy of its request may have been first.
func unwritten(err error) bool {
	return ledger.Refused(err) || errors.Is(err, ErrTogether)
}

// propose appends a proposal. In a batch it appends those of the other operations with it.
func (d *Dealer) propose(ctx context.Context, p ledger.Proposal) (appended []ledger.Appended, err error) {
	if in, ok := ctx.Value(turnKey{}).(*turn); ok {
		appended, err = in.round.append(in.at, p)
	} else {
		appended, err = d.cfg.Ledger.Append(ctx, p)
	}
	if err == nil {
		d.shuffles.Recent.Grew(&p, appended)
	}
	return appended, err
}

// appendOne appends one entry, and returns what an answer says of it.
func (d *Dealer) appendOne(ctx context.Context, actor audit.Actor, body audit.Body) (api.Answered, string, error) {
	appended, err := d.propose(ctx, ledger.Proposal{Actor: actor, Bodies: []audit.Body{body}})
	if err != nil {
		return api.Answered{}, "", err
	}
	return api.Answered{Time: api.Time(appended[0].Entry.Time)}, appended[0].Receipt.Text(), nil
}

// turnKey is the key of a turn in a context.
type turnKey struct{}

// turn is the place of an operation in its round.
type turn struct {
	round *round
	at    int
}

// together reports whether ctx is of an operation of a batch for all or none.
func together(ctx context.Context) bool {
	in, ok := ctx.Value(turnKey{}).(*turn)
	return ok && in.round.together
}

// round lets operations of a batch append together. Each operation runs like a single request, in
// a goroutine of its own, until it proposes entries. When all of them have proposed or ended, the
// proposals are appended in the order of the operations, up to the first operation that is Undecided.
type round struct {
	ctx      context.Context
	ledger   *sequencer.Ledger
	together bool // all or none

	mu       sync.Mutex
	working  int // operations that have neither proposed nor ended
	proposed []*proposed
	refused  error // why nothing more is appended, in a round for all or none
	end      int   // operations from here on are behind one that is Undecided
	panicked any   // what an operation panicked with
}

// proposed is a proposal of an operation, which waits for the answer.
type proposed struct {
	at     int
	p      ledger.Proposal
	answer chan ledger.Answer
}

// Round runs n operations to their end. What they propose in their contexts is appended together; with together all of
// it, or none. If one of them panics, Round panics when all have ended. So the panic reaches the caller, like that of a
// single request, and does not end the daemon.
func (d *Dealer) Round(ctx context.Context, n int, together bool, do func(ctx context.Context, at int) error) {
	r := &round{ctx: ctx, ledger: d.cfg.Ledger, together: together, working: n, end: n}
	var all sync.WaitGroup
	for at := range n {
		all.Go(func() {
			var err error
			defer func() {
				p := recover()
				r.mu.Lock()
				if p != nil {
					r.panicked = p
				}
				if (err != nil || p != nil) && r.together && r.refused == nil {
					r.refused = ErrTogether
				}
				if Undecided(err) && !r.together {
					r.end = min(r.end, at)
				}
				r.stopped()
			}()
			err = do(context.WithValue(r.ctx, turnKey{}, &turn{r, at}), at)
		})
	}
	all.Wait()
	if r.panicked != nil {
		panic(r.panicked)
	}
}

func (r *round) append(at int, p ledger.Proposal) ([]ledger.Appended, error) {
	one := &proposed{at, p, make(chan ledger.Answer, 1)}
	r.mu.Lock()
	r.proposed = append(r.proposed, one)
	r.stopped()
	a := <-one.answer
	return a.Appended, a.Err
}

// stopped notes that an operation has proposed or ended. If it was the last one that worked,
// stopped appends the proposals. The caller holds the lock, and stopped releases it. An operation
// that was answered works again: it ends, or proposes something else.
func (r *round) stopped() {
	r.working--
	if r.working > 0 || len(r.proposed) == 0 {
		r.mu.Unlock()
		return
	}
	all := r.proposed
	r.proposed, r.working = nil, len(all)
	refused, end := r.refused, r.end
	r.mu.Unlock()
	slices.SortFunc(all, func(a, b *proposed) int { return cmp.Compare(a.at, b.at) })
	for len(all) > 0 && all[len(all)-1].at > end {
		all[len(all)-1].answer <- ledger.Answer{Err: ledger.ErrBehind}
		all = all[:len(all)-1]
	}
	proposals := make([]ledger.Proposal, len(all))
	for i, one := range all {
		proposals[i] = one.p
	}
	answers := make([]ledger.Answer, len(all))
	switch {
	case refused != nil:
		for i := range answers {
			answers[i].Err = refused
		}
	case r.together:
		if answers = r.ledger.AppendTogether(r.ctx, proposals, ErrTogether); answers[0].Err != nil {
			r.mu.Lock()
			r.refused = ErrTogether
			r.mu.Unlock()
		}
	default:
		answers = r.ledger.AppendAll(r.ctx, proposals)
	}
	for i, one := range all {
		one.answer <- answers[i]
	}
}
