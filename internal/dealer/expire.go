package dealer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
)

// expireEvery is the interval at which overdue shuffles are closed.
const expireEvery = 5 * time.Second

// Run closes overdue shuffles until ctx ends. While the ledger cannot be written it closes none,
// and readiness says why.
func (d *Dealer) Run(ctx context.Context) {
	for ledger.Sleep(ctx, expireEvery, nil) {
		if d.cfg.Ledger.Ready() == nil {
			d.expireNow(ctx)
		}
	}
}

func (d *Dealer) expireNow(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	closed, err := d.Expire(ctx)
	if err != nil {
		d.cfg.Log.Error("overdue shuffles could not be closed", "ledger", d.cfg.Ledger.Info().Name, "error", err)
	}
	if closed > 0 {
		d.cfg.Log.Warn("closed overdue shuffles as expired", "ledger", d.cfg.Ledger.Info().Name, "shuffles", closed)
	}
}

// Expire closes every open shuffle whose close-by has passed as expired, and discloses its tape as its commit declared.
// So every tape is disclosed in the end, and a forgotten shuffle does not stop its table. Expire returns how many
// shuffles it closed, and the errors of those that it could not close. Other daemons may do the same at the same time:
// the ledger lets one of them. Expire waits once for a co-dealer that gives no answer, and then asks it nothing more.
func (d *Dealer) Expire(ctx context.Context) (closed int, err error) {
	overdue, err := d.cfg.Ledger.ClosingBy(ctx, d.cfg.Now())
	if err != nil {
		return 0, fmt.Errorf("listing overdue shuffles: %w", err)
	}
	var errs []error
	silent := make(map[string]bool)
	for _, o := range overdue {
		ended, err := d.expire(ctx, o.ID, silent)
		errs = append(errs, err)
		if ended {
			closed++
		}
	}
	return closed, errors.Join(errs...)
}

// expire reports whether this daemon closed the shuffle, and no other did. A shuffle with a foul
// deck expires too: its tape tells what is wrong with it.
func (d *Dealer) expire(ctx context.Context, id uint64, silent map[string]bool) (ended bool, err error) {
	r, err := d.record(ctx, id)
	if err != nil || r.closed != nil {
		return false, err
	}
	tape, inputs, err := d.tape(ctx, r, maxAncestors)
	if err != nil {
		return false, err
	}
	defer clear(tape)
	defer clear(inputs)
	req := ending{CloseRequest: CloseRequest{Outcome: audit.OutcomeExpired}, silent: silent}
	if err := d.unplayed(ctx, r, &req); err != nil {
		return false, err
	}
	appended, err := d.appendClose(ctx, audit.Daemon, r, tape, req)
	if breaks(err, audit.RuleNotOpen) {
		return false, nil
	}
	if err == nil {
		d.ended(r, appended)
	}
	return err == nil, err
}

// Takeover makes the actor's identity the owner of an open shuffle of another identity, to close it, by an entry in the
// ledger (docs/SPEC.md section 5.9). If the identity took the shuffle over before, to close it, and owns it still, the
// answer is that takeover. A takeover to play is an act (SubmitAct).
func (d *Dealer) Takeover(ctx context.Context, actor audit.Actor, id uint64, req TakeoverRequest) (Takeover, error) {
	if err := checkReason(req.Reason); err != nil {
		return Takeover{}, err
	}
	return answer(ctx, d, id, request[Takeover]{
		durable: true,
		may:     func(*record) error { return nil },
		stands:  func(r *record) bool { _, _, ok := r.takenBy(actor); return ok },
		repeat: func(r *record) (Takeover, error) {
			row, from, _ := r.takenBy(actor)
			answered, receipt, err := again(ctx, row, d.cfg.Ledger.FirstReceipt)
			return Takeover{Answered: answered, From: from, Receipt: receipt}, err
		},
		do: func(r *record) (Takeover, error) { return d.takeover(ctx, actor, r, req) },
	})
}

func (d *Dealer) takeover(ctx context.Context, actor audit.Actor, r *record, req TakeoverRequest) (Takeover, error) {
	if r.closed != nil {
		return Takeover{}, r.notOpen()
	}
	body := &audit.Takeover{Shuffle: r.id, Extent: audit.ExtentClose, Reason: req.Reason}
	answered, receipt, err := d.appendOne(ctx, actor, body)
	if err != nil {
		return Takeover{}, err
	}
	d.cfg.Log.Warn("a shuffle was taken over", "shuffle", r.id, "from", r.owner, "by", actor.Identity)
	return Takeover{answered, r.owner, receipt}, nil
}

// takenBy returns the takeover by which the actor's identity owns the shuffle to close it, and the owner before. ok is
// false if there is none.
func (r *record) takenBy(actor audit.Actor) (row ledger.Row, from string, ok bool) {
	if len(r.taken) == 0 {
		return row, "", false
	}
	last := r.taken[len(r.taken)-1]
	return last.row, last.from, r.owner == actor.Identity && r.extent == audit.ExtentClose
}
