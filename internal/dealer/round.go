package dealer

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"shuffled/internal/ledger"
)

// ErrTogether: an operation of a batch was refused, and the batch is all or none.
var ErrTogether = errors.New("another operation of the batch was refused, and all or none was asked for")

// propose appends a proposal: at once, or with those of the other operations of a batch.
func (d *Dealer) propose(ctx context.Context, p ledger.Proposal) (appended []ledger.Appended, err error) {
	if in, ok := ctx.Value(turnKey{}).(turn); ok {
		appended, err = in.round.append(in.at, p)
	} else {
		appended, err = d.cfg.Ledger.Append(ctx, p)
	}
	if err == nil {
		d.recent.grew(&p, appended)
	}
	return appended, err
}

// turnKey finds a turn in a context.
type turnKey struct{}

// turn is the place of an operation in its round.
type turn struct {
	round *round
	at    int
}

// round lets the operations of a batch that go together append together. Each runs as the
// single request that it is, in a goroutine of its own, until it proposes entries. When
// all of them have proposed or ended, what they proposed is appended in their order.
type round struct {
	ctx      context.Context
	ledger   *ledger.Ledger
	together bool // all or none

	mu       sync.Mutex
	working  int // operations that have neither proposed nor ended
	proposed []*proposed
	refused  error // all or none: nothing is appended any more
	panicked any   // what an operation panicked with
}

// proposed is what an operation proposed, and waits for the answer to.
type proposed struct {
	at     int
	p      ledger.Proposal
	answer chan ledger.Answer
}

// run runs n operations to their end. It panics if one of them did, when all have ended: to
// the caller, as a single request does, and not in a goroutine that would end the daemon.
func (r *round) run(n int, do func(ctx context.Context, at int) error) {
	r.working = n
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
				r.stopped()
			}()
			err = do(context.WithValue(r.ctx, turnKey{}, turn{r, at}), at)
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

// stopped notes that one operation works no more, and appends what is proposed if it was
// the last. It is called under the lock, which it gives up. What was answered works
// again: it ends, or proposes something else.
func (r *round) stopped() {
	r.working--
	if r.working > 0 || len(r.proposed) == 0 {
		r.mu.Unlock()
		return
	}
	all := r.proposed
	r.proposed, r.working = nil, len(all)
	refused := r.refused
	r.mu.Unlock()
	slices.SortFunc(all, func(a, b *proposed) int { return cmp.Compare(a.at, b.at) })
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
		r.appendTogether(proposals, answers)
	default:
		answers = r.ledger.AppendAll(r.ctx, proposals)
	}
	for i, one := range all {
		one.answer <- answers[i]
	}
}

// appendTogether appends all or none. The proposal that is to blame has the reason, and
// the others have it as that of another one.
func (r *round) appendTogether(proposals []ledger.Proposal, answers []ledger.Answer) {
	appended, of, err := r.ledger.AppendTogether(r.ctx, proposals)
	if err == nil {
		for i := range answers {
			answers[i].Appended = appended[i]
		}
		return
	}
	r.mu.Lock()
	r.refused = ErrTogether
	r.mu.Unlock()
	for i := range answers {
		if answers[i].Err = err; of >= 0 && i != of {
			answers[i].Err = ErrTogether
		}
	}
}
