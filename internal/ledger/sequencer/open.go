package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"shuffled/internal/audit"
)

// Open loads the ledger, checks its signatures and rules, compares it with the high-water mark and the witnesses,
// starts the sequencer and writes the instance_start event. The caller must Close it. It is an error if the stored
// ledger is damaged. If it is sound and contradicts what was seen, it is opened for reading: nothing is signed until it
// extends everything that was seen, and Ready says why.
func Open(ctx context.Context, cfg Config) (*Ledger, error) {
	cfg.SetDefaults()
	l := &Ledger{cfg: cfg, id: IDOf(cfg.Info.Origin), clock: clock{read: cfg.Clock, limit: cfg.ClockStep}}
	l.Core, l.memory, l.shown, l.life = NewCore(cfg, l.readNewer)
	if cfg.AdoptHead != "" {
		if err := audit.CheckReason(cfg.AdoptHead); err != nil {
			return nil, fmt.Errorf("opening ledger %s: the reason to adopt its head %w", cfg.Info.Name, err)
		}
	}
	l.cache = &caching{l: l, due: make(chan struct{}, 1)}
	if err := l.load(ctx); err != nil {
		return nil, fmt.Errorf("opening ledger %s: %w", cfg.Info.Name, err)
	}
	if err := l.checkSigners(); err != nil {
		return nil, fmt.Errorf("opening ledger %s: %w", cfg.Info.Name, err)
	}
	var err error
	if l.witnesses, err = newWitnesses(l.Core, cfg, l.shown, l.life, l.witnessedKeys, l.alarm, l.stopForDoubts); err != nil {
		return nil, fmt.Errorf("opening ledger %s: %w", cfg.Info.Name, err)
	}
	if l.mark, err = openMark(cfg.Mark); err != nil {
		return nil, fmt.Errorf("opening ledger %s: %w", cfg.Info.Name, err)
	}
	if err := l.readMark(); err != nil {
		return nil, errors.Join(fmt.Errorf("opening ledger %s: %w", cfg.Info.Name, err), l.mark.close())
	}
	l.to(phaseStarting, fmt.Errorf("%w: starting", ErrUnavailable))
	l.isNewest()
	l.publish()
	go l.sequence()
	l.life.group.Go(l.attend)
	l.life.group.Go(l.cache.run)
	l.life.group.Go(func() { l.mark.syncEvery(l.life.running, cfg.MarkSync) })
	err = l.witnesses.start()
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
	l.life.once.Do(func() {
		l.life.cancel()
		<-l.life.done
		l.witnesses.join()
		l.life.group.Wait()
		err = l.mark.close()
	})
	return err
}

// sequence runs the sequencer, on a goroutine of its own, until Close.
func (l *Ledger) sequence() {
	defer close(l.life.done)
	probe := time.NewTicker(l.cfg.Probe)
	defer probe.Stop()
	for {
		select {
		case <-l.life.running.Done():
			l.to(phaseClosed, ErrClosed)
			return
		case <-probe.C:
			l.recheck()
		case ask := <-l.life.asks:
			ask()
		case r := <-l.life.queue:
			l.process(l.gather(r))
		}
	}
}
