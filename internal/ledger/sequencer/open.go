package sequencer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
	"shuffled/internal/ledger/cosign"
	"shuffled/internal/witness/gateway"
)

// Open loads the ledger, checks its signatures and rules, compares it with the high-water mark and the witnesses,
// starts the sequencer and writes the instance_start event. The caller must Close it. It is an error if the stored
// ledger is damaged. If it is sound and contradicts what was seen, it is opened for reading: nothing is signed until it
// extends everything that was seen, and Ready says why.
func Open(ctx context.Context, cfg ledger.Config) (*Ledger, error) {
	cfg.SetDefaults()
	l := &Ledger{cfg: cfg, cacheDue: make(chan struct{}, 1), clock: clock{read: cfg.Clock, limit: cfg.ClockStep}}
	l.Core, l.memory, l.shown, l.life = ledger.NewCore(cfg, l.readNewer)
	if cfg.AdoptHead != "" {
		if err := audit.CheckReason(cfg.AdoptHead); err != nil {
			return nil, fmt.Errorf("opening ledger %s: the reason to adopt its head %w", cfg.Info.Name, err)
		}
	}
	if err := l.load(ctx); err != nil {
		return nil, fmt.Errorf("opening ledger %s: %w", cfg.Info.Name, err)
	}
	if err := l.checkSigners(); err != nil {
		return nil, fmt.Errorf("opening ledger %s: %w", cfg.Info.Name, err)
	}
	var err error
	if l.Rounds, err = cosign.New(l.Core, cfg, l.shown, l.life, l.witnessedKeys, l.alarm, l.stopForDoubts); err != nil {
		return nil, fmt.Errorf("opening ledger %s: %w", cfg.Info.Name, err)
	}
	if l.mark, err = openMark(cfg.Mark); err != nil {
		return nil, fmt.Errorf("opening ledger %s: %w", cfg.Info.Name, err)
	}
	if err := l.readMark(); err != nil {
		return nil, errors.Join(fmt.Errorf("opening ledger %s: %w", cfg.Info.Name, err), l.mark.close())
	}
	l.to(phaseStarting, fmt.Errorf("%w: starting", ledger.ErrUnavailable))
	l.isNewest()
	l.publish()
	go l.sequence()
	l.life.Group.Go(l.attend)
	l.life.Group.Go(l.writeCaches)
	l.life.Group.Go(func() { l.mark.syncEvery(l.life.Running, cfg.MarkSync) })
	err = l.Rounds.Start()
	if err == nil {
		err = l.begin(ctx)
	}
	if err != nil {
		l.Close()
		return nil, fmt.Errorf("opening ledger %s: %w", cfg.Info.Name, err)
	}
	return l, nil
}

// Close stops the sequencer after the current batch and refuses the requests that wait with
// ErrClosed. It waits for all goroutines, and syncs the mark.
func (l *Ledger) Close() error {
	var err error
	l.life.Once.Do(func() {
		l.life.Cancel()
		<-l.life.Done
		l.Rounds.Join()
		l.life.Group.Wait()
		err = l.mark.close()
	})
	return err
}

// sequence runs the sequencer, on a goroutine of its own, until Close.
func (l *Ledger) sequence() {
	defer close(l.life.Done)
	probe := time.NewTicker(l.cfg.Probe)
	defer probe.Stop()
	for {
		select {
		case <-l.life.Running.Done():
			l.to(phaseClosed, ledger.ErrClosed)
			return
		case <-probe.C:
			l.recheck()
		case ask := <-l.life.Asks:
			ask()
		case r := <-l.life.Queue:
			l.process(l.gather(r))
		}
	}
}

// begin waits for the first answers of the witnesses and writes this daemon's instance_start. If the stored ledger
// contradicts what was seen, or the signing key is not available, that is no error: the ledger is read, Ready says why
// it is not written, and recheck writes the instance_start when the cause is gone.
func (l *Ledger) begin(ctx context.Context) error {
	l.cfg.Step("the first answers of the witnesses")
	if !ledger.Sleep(ctx, witnessStart, l.Rounds.Settled()) {
		return ctx.Err()
	}
	var objection error
	var start ledger.Proposal
	if err := l.Ask(ctx, func() {
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
	if errors.Is(objection, ledger.ErrFrozen) || errors.Is(objection, ledger.ErrNoKey) ||
		errors.Is(objection, errBegun) {
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
		if l.resume(ctx) {
			l.writeOwed()
		}
		return
	}
	if l.readNewer(ctx) != nil {
		return
	}
	if _, err := l.clock.now(l.memory.State.Time()); err != nil { // what others wrote is still read
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
		l.writeOwed()
		return
	}
	l.to(phaseWriting, nil)
}

// writeOwed writes what the ledger owes: the instance_start of this daemon if it does not stand yet, otherwise that
// entries are written again, and the alarms. It is called at every probe until that is durable.
func (l *Ledger) writeOwed() {
	p := ledger.Proposal{Actor: audit.Daemon}
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
	r := ledger.NewRequest(p)
	l.process([]*ledger.Request{r})
	if a := <-r.Reply; a.Err != nil {
		return
	}
	l.resumed = false
	if !starts(&p) {
		l.alarms = nil
	}
}

// probeTimeout is how long one step at the store may take in a probe.
const probeTimeout = 3 * time.Second
