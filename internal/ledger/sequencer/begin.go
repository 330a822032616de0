package ledger

import (
	"context"
	"errors"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/witness/gateway"
)

// begin waits for the first answers of the witnesses and writes this daemon's instance_start. If the stored ledger
// contradicts what was seen, or the signing key is not available, that is no error: the ledger is read, Ready says why
// it is not written, and recheck writes the instance_start when the cause is gone.
func (l *Ledger) begin(ctx context.Context) error {
	l.cfg.Step("the first answers of the witnesses")
	wait := time.NewTimer(witnessStart)
	defer wait.Stop()
	select {
	case <-l.witnesses.hasSettled():
	case <-wait.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	var objection error
	var start Proposal
	if err := l.ask(ctx, func() {
		switch {
		case l.begun():
			objection = errBegun // recheck was first: a doubt was gone
		case l.phase == phaseFrozen:
			objection = l.Ready() // recheck begins when the cause is gone
		default:
			objection, start = l.compare(ctx), l.announcement()
		}
	}); err != nil {
		return err
	}
	if objection == nil {
		l.cfg.Step("the database, which writes that this daemon starts")
		_, objection = l.Append(ctx, start)
	}
	if errors.Is(objection, ErrFrozen) || errors.Is(objection, ErrNoKey) || errors.Is(objection, errBegun) {
		return nil
	}
	return objection
}

// witnessStart is how long the start waits for the witnesses' first answers.
const witnessStart = gateway.Timeout + time.Second

// recheck runs at every probe. It looks at clock and store, so that readiness is true while no
// request comes, and folds what other daemons wrote.
func (l *Ledger) recheck() {
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
	defer cancel()
	if l.phase == phaseFrozen {
		if l.thaw(ctx) {
			l.pay()
		}
		return
	}
	if l.readNewer(ctx) != nil {
		return
	}
	if _, err := l.clock.now(l.memory.state.Time()); err != nil { // what others wrote is still read
		l.stepped = err.Error()
		l.wait(err)
		return
	}
	if err := l.canSign(); err != nil {
		l.wait(err)
		return
	}
	if l.phase == phaseStarting {
		return // begin goes on
	}
	if err := l.mark.held.Check(); err != nil {
		l.freeze(replaced(err))
		return
	}
	if l.stepped != "" {
		l.alarm(audit.AlarmClockStep, l.stepped+"; entries were refused until the clock came back")
		l.stepped = ""
	}
	if l.resumed || !l.begun() || len(l.alarms) > 0 { // only an append shows that appends work again
		l.pay()
		return
	}
	l.to(phaseWriting, nil)
}

// pay writes what the ledger owes: the instance_start of this daemon if it does not stand yet, otherwise that entries
// are written again, and the alarms. It is called at every probe until that is durable.
func (l *Ledger) pay() {
	p := Proposal{Actor: audit.Daemon}
	if l.resumed {
		p.Bodies = append(p.Bodies, &audit.Event{Kind: audit.EventAlarm, Alarm: audit.AlarmSigningResumed,
			Reason: "the store takes entries again, and extends all that was seen"})
	}
	for i := range l.alarms {
		p.Bodies = append(p.Bodies, &l.alarms[i])
	}
	if !l.begun() {
		p = l.announcement()
	}
	r := newRequest(p)
	l.process([]*request{r})
	if a := <-r.reply; a.Err != nil {
		return
	}
	l.resumed = false
	if !starts(&p) {
		l.alarms = nil
	}
}

// probeTimeout is how long one step at the store may take in a probe.
const probeTimeout = 3 * time.Second
