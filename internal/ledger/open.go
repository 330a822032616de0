package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/semaphore"

	"shuffled/internal/audit"
)

// Open loads the ledger, checks its signatures and rules, compares it with the high-water mark and the witnesses,
// starts the sequencer and writes the instance_start event. The caller must Close it. It is an error if the stored
// ledger is damaged. If it is sound and contradicts what was seen, it is opened for reading: nothing is signed until it
// extends everything that was seen, and Ready says why.
func Open(ctx context.Context, cfg Config) (*Ledger, error) {
	cfg.setDefaults()
	l := &Ledger{core: core{
		cfg:    cfg,
		id:     IDOf(cfg.Info.Origin),
		memory: memory{state: audit.NewState(), clock: clock{read: cfg.Clock, limit: cfg.ClockStep}},
		life:   life{queue: make(chan []*request, cfg.Queue), asks: make(chan func()), done: make(chan struct{})},
		open:   openList{turn: semaphore.NewWeighted(1)},
		tables: tableNames{turn: semaphore.NewWeighted(1)},
	}}
	l.foldNewer = l.readNewer
	l.tree = newTree()
	l.running, l.cancel = context.WithCancel(context.Background())
	if cfg.AdoptHead != "" {
		if err := audit.CheckReason(cfg.AdoptHead); err != nil {
			return nil, fmt.Errorf("opening ledger %s: the reason to adopt its head %w", cfg.Info.Name, err)
		}
	}
	l.cache = &caching{l: &l.core, due: make(chan struct{}, 1)}
	if err := l.load(ctx); err != nil {
		return nil, fmt.Errorf("opening ledger %s: %w", cfg.Info.Name, err)
	}
	if err := l.checkSigners(); err != nil {
		return nil, fmt.Errorf("opening ledger %s: %w", cfg.Info.Name, err)
	}
	var err error
	if l.witnesses, err = l.newWitnesses(l.alarm, l.stopForDoubts); err != nil {
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
	l.group.Go(l.attend)
	l.group.Go(l.cache.run)
	l.group.Go(func() { l.mark.syncEvery(l.running, cfg.MarkSync) })
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
	l.once.Do(func() {
		l.cancel()
		<-l.done
		l.witnesses.join()
		l.group.Wait()
		err = l.mark.close()
	})
	return err
}

// sequence runs the sequencer, on a goroutine of its own, until Close.
func (l *Ledger) sequence() {
	defer close(l.done)
	probe := time.NewTicker(l.cfg.Probe)
	defer probe.Stop()
	for {
		select {
		case <-l.running.Done():
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
