package client

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"shuffled/internal/audit"
	"shuffled/internal/wire"
)

// The parts of a batch that are the JSON of a single call, and the shuffle that an operation is of.
type (
	OperationBody    = jsontext.Value
	OperationAnswer  = jsontext.Value
	OperationShuffle = wire.OperationShuffle
)

// A Step is one command of a batch.
type Step struct {
	Request Request
	Key     string // idempotency key of a commit or draw

	// Of is the shuffle that is mixed, dealt, revealed from or closed. nil means the shuffle of step From of the batch,
	// an earlier one. Of a commit with a parent, Of is the parent. nil means that it is loaded.
	Of   *Committed
	From int
}

// A Request of a step is a ShuffleRequest, DrawsRequest, MixRequest, DealRequest, RevealRequest or CloseRequest.
type Request interface{ op() string }

func (ShuffleRequest) op() string { return "shuffle" }
func (DrawsRequest) op() string   { return "draw" }
func (MixRequest) op() string     { return "mix" }
func (DealRequest) op() string    { return "deal" }
func (RevealRequest) op() string  { return "reveal" }
func (CloseRequest) op() string   { return "close" }

// Done is the answer to a step, proved as the answer to a single call is: Shuffle to a commit or draw, Deal to a deal,
// and so on. Of any other step, Shuffle is the shuffle that it is of.
type Done struct {
	Shuffle *Committed
	Mix     *Mix
	Deal    *Deal
	Reveal  *Reveal
	Close   *Close
	Err     error // why the step was refused, an *Error; then the others are nil
}

// commits reports whether the step makes a shuffle.
func (s *Step) commits() bool { return s.Request.op() == "shuffle" || s.Request.op() == "draw" }

// do makes the single call of a step.
func (c *Client) do(ctx context.Context, step Step) (Done, error) {
	if err := c.check(ctx, maxLoose); err != nil {
		return Done{}, err
	}
	if err := c.ready(ctx, &step); err != nil {
		return Done{}, err
	}
	when := c.command(ctx).under(step.Key)
	answer, err := c.sendAlone(when.in(ctx), &step)
	if err != nil {
		return Done{}, err
	}
	return c.proveStep(ctx, &step, step.Of, reply{when, answer})
}

// ready does what must come before a step: it loads a parent, waits for witnesses, and learns the mix. It does nothing
// for a shuffle that the batch itself commits.
func (c *Client) ready(ctx context.Context, step *Step) (err error) {
	if req, ok := step.Request.(ShuffleRequest); ok && req.Parent != nil && step.Of == nil {
		if step.Of, err = c.Load(ctx, req.Parent.ID); err != nil {
			return fmt.Errorf("loading the parent: %w", err)
		}
	}
	if step.Of == nil || step.commits() {
		return nil
	}
	ending, closes := step.Request.(CloseRequest)
	if !closes {
		err = c.Await(ctx, step.Of)
	}
	if _, mixes := step.Request.(MixRequest); err != nil || mixes || closes && len(ending.Reveal) == 0 {
		return err
	}
	known := false
	if step.Of.with(func(p *play) { known = p.ordered }); !known { // another client made the mix
		if _, err := c.restore(ctx, step.Of); err != nil {
			return fmt.Errorf("learning the mix: %w", err)
		}
	}
	return nil
}

func (c *Client) sendAlone(ctx context.Context, step *Step) ([]byte, error) {
	switch req := step.Request.(type) {
	case ShuffleRequest:
		return c.createShuffle(ctx, CreateShuffleParams{IdempotencyKey: step.Key}, req)
	case DrawsRequest:
		return c.createDraws(ctx, CreateDrawsParams{IdempotencyKey: step.Key}, req)
	case MixRequest:
		return c.mixShuffle(ctx, step.Of.ID, req)
	case DealRequest:
		return c.dealCards(ctx, step.Of.ID, req)
	case RevealRequest:
		return c.revealCards(ctx, step.Of.ID, req)
	default:
		return c.closeShuffle(ctx, step.Of.ID, req.(CloseRequest))
	}
}

// proveStep proves the answer to a step of the shuffle s. Of a commit, s is the parent.
func (c *Client) proveStep(ctx context.Context, step *Step, s *Committed, r reply) (d Done, err error) {
	d.Shuffle = s
	var e proved  // the entry of a mix or deal
	first := true // it is the first of the shuffle
	switch req := step.Request.(type) {
	case ShuffleRequest, DrawsRequest:
		d.Shuffle, err = c.proveAsked(ctx, step, s, r)
	case MixRequest:
		d.Mix, err = held(r, nil, func(m *Mix) (err error) {
			e, err = c.proveMix(ctx, s, &req, m, r)
			return err
		})
	case DealRequest:
		first = req.First == 0 && len(s.commit.Context.Mixed()) == 0
		d.Deal, err = held(r, nil, func(m *Deal) (err error) {
			if err = c.learnNames(ctx, s); err == nil {
				e, err = c.proveDeal(ctx, s, &req, m, r)
			}
			return err
		})
	case RevealRequest:
		want := &audit.Reveal{Shuffle: s.ID, Exposed: deref(req.Exposed), Places: places(req.Places)}
		d.Reveal, err = held(r, nil, func(m *Reveal) error { return c.proveReveal(ctx, s, want, m, anyIndex, r) })
	case CloseRequest:
		d.Close, err = held(r, nil, func(m *Close) error { return c.proveClose(ctx, s, &req, m, anyIndex, r) })
	}
	if err == nil && e.index != 0 {
		err = c.proveEarly(ctx, s, e, first)
	}
	return d, afterDone(err)
}

// held reads an answer to a command, and returns it if it is proved. err is why there is none.
func held[T any](r reply, err error, prove func(*T) error) (*T, error) {
	told, err := decoded[T](r.body, err)
	if err == nil {
		err = afterDone(prove(told))
	}
	if err != nil {
		return nil, err
	}
	return told, nil
}

// Batch asks for many steps in one request, of any tables, and proves the answer to each as the single call does. A
// refused step does not stop the others. With allOrNone all steps are done or none: this is not possible if the batch
// has steps of a shuffle that it commits itself.
//
// If a step is refused for now, the whole batch is asked for again, as often as a single call is tried: steps that were
// done are answered as before. The error is a *Fault, or one of the network or context, or ErrNotWitnessed. Then the
// result has the steps before the one that failed, and the same steps may be asked for again, under FirstTried.
func (c *Client) Batch(ctx context.Context, steps []Step, allOrNone bool) ([]Done, error) {
	req, err := c.batchOf(ctx, steps, allOrNone)
	if err != nil {
		return nil, err
	}
	b := &batch{Client: c, steps: steps, all: allOrNone, done: make([]Done, len(steps))}
	for _, step := range steps {
		b.whens = append(b.whens, c.command(ctx).under(step.Key))
	}
	for attempt := 1; ; attempt++ {
		whole := c.command(ctx)
		answer, err := c.createBatch(whole.in(ctx), *req)
		if whole.open.Load() {
			for _, when := range b.whens {
				when.open.Store(true)
			}
		}
		if err != nil {
			return b.done, err
		}
		after, err := b.prove(ctx, answer)
		if err != nil || after == never || attempt == c.cfg.Attempts {
			return b.done, err
		}
		if err := sleep(ctx, max(after, c.pause(attempt))); err != nil {
			return b.done, fmt.Errorf("%w, while steps of a batch were refused for now", err)
		}
	}
}

// batchOf prepares the steps and makes the request for them.
func (c *Client) batchOf(ctx context.Context, steps []Step, allOrNone bool) (*BatchRequest, error) {
	if err := c.check(ctx, maxLoose); err != nil {
		return nil, err
	}
	req := &BatchRequest{AllOrNone: optional(BatchRequestAllOrNone(allOrNone))}
	for i := range steps {
		step := &steps[i]
		if step.Request == nil {
			return nil, fmt.Errorf("step %d of the batch has no request", i)
		}
		op := Operation{Op: step.Request.op()}
		switch {
		case step.commits():
			op.Key = &step.Key
		case step.Of != nil:
			op.Shuffle = &OperationShuffle{ID: step.Of.ID}
		case step.From < 0 || step.From >= i:
			return nil, fmt.Errorf("step %d of the batch is of a shuffle, or of that of an earlier step, and not of step %d",
				i, step.From)
		default:
			op.Shuffle = &OperationShuffle{Op: &step.From}
		}
		err := c.ready(ctx, step)
		if err == nil {
			op.Body, err = json.Marshal(step.Request)
		}
		if err != nil {
			return nil, fmt.Errorf("step %d of the batch: %w", i, err)
		}
		req.Operations = append(req.Operations, op)
	}
	return req, nil
}

// batch is a batch under way.
type batch struct {
	*Client
	steps []Step
	all   bool // all or none
	done  []Done
	whens []asked
}

// prove takes in those answers to steps that are new. It returns the shortest pause before the batch may be asked for
// again, or never if no step is refused for now.
func (b *batch) prove(ctx context.Context, answer []byte) (after time.Duration, err error) {
	told, err := decoded[Batch](answer, nil)
	if err != nil {
		return never, err
	}
	if len(told.Results) != len(b.steps) {
		return never, &Fault{What: fmt.Sprintf("%d steps were asked for, and %d are in the answer", len(b.steps),
			len(told.Results)), Answer: answer}
	}
	after, refused := never, 0
	for i, r := range told.Results {
		ok := r.Status == http.StatusOK
		if !ok {
			refused++
		}
		switch {
		case b.done[i].Err == nil && b.done[i] != Done{}: // its answer was proved before
		case ok:
			err = b.proveOne(ctx, i, r.Body)
		default:
			if b.done[i].Err, err = b.refusal(i, r); r.RetryAfter != nil {
				after = max(after, min(time.Duration(*r.RetryAfter)*time.Second, maxRetryAfter))
			}
		}
		if err != nil {
			return never, err
		}
	}
	if b.all && refused > 0 && refused < len(b.steps) {
		return never, &Fault{What: "some of the steps were done, and all or none was asked for", Answer: answer}
	}
	return after, nil
}

// proveOne proves the answer to step i.
func (b *batch) proveOne(ctx context.Context, i int, answer []byte) error {
	step := &b.steps[i]
	of := step.Of
	if of == nil && !step.commits() {
		if of = b.done[step.From].Shuffle; of == nil {
			return &Fault{What: fmt.Sprintf("step %d is answered, and the commit that it is of was refused", i),
				Answer: answer}
		}
	}
	done, err := b.proveStep(ctx, step, of, reply{b.whens[i], answer})
	if err == nil {
		b.done[i] = done
	}
	return err
}

// refusal reads why step i was refused.
func (b *batch) refusal(i int, r BatchResult) (error, error) {
	e := new(Error)
	if err := e.read(r.Body); err != nil || e.Status != r.Status || e.Code == "" {
		return nil, &Fault{What: fmt.Sprintf("step %d is neither answered nor refused", i), Answer: r.Body, Err: err}
	}
	if open(e) {
		b.whens[i].open.Store(true)
	}
	if b.whens[i].open.Load() {
		return &unresolved{e}, nil
	}
	return e, nil
}
