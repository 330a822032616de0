package main

import (
	"context"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/entropy"
	"shuffled/internal/ledger"
	"shuffled/internal/monitor"
)

// countLeast is how long a window by count lasts at least; 0 is monitor.CountLeast.
// Only tests set it, before anything runs.
var countLeast time.Duration

// watchOutcomes ends the windows of the monitor until the house stops.
func (h *house) watchOutcomes() {
	ctx, cancel := context.WithCancel(context.Background())
	h.watches.Go(func() {
		<-h.stop
		cancel()
	})
	h.monitor.Run(ctx)
}

// onFinding stops the generator, if the finding is a halt, and hands the finding to
// watchFindings. Writing waits for a store; what is found next must not.
func (h *house) onFinding(f monitor.Finding) {
	if f.Halt {
		h.entropy.Trip(entropy.ReasonStatistics)
		h.log.Error("statistics over outcomes: no more tapes are drawn", "finding", f.String())
	} else {
		h.log.Warn("statistics over outcomes are unlikely", "finding", f.String())
	}
	select {
	case h.findings <- f:
	default:
		h.log.Error("the ledgers do not say so: earlier findings wait to be written", "finding", f.String())
	}
}

// maxFindings is how many findings wait in the channel, and how many more for each
// ledger; later ones are in the log only.
const maxFindings = 16

// watchFindings writes each finding into every ledger, for one generator serves
// all, and tries until it stands; a daemon that is told to stop tries once more.
func (h *house) watchFindings() {
	retry := time.NewTicker(latchRetry)
	defer retry.Stop()
	pending := make(map[*ledger.Ledger][]monitor.Finding)
	found := func(f monitor.Finding) {
		for _, d := range h.dealers {
			l := d.Ledger()
			if len(pending[l]) >= maxFindings {
				h.log.Error("the ledger does not say so: earlier findings wait to be written", "ledger", l.Info().Name,
					"finding", f.String())
				continue
			}
			pending[l] = append(pending[l], f)
		}
	}
	for {
		stopping := false
		select {
		case <-h.last:
			stopping = true
			drain(h.findings, found) // select chooses at random among what is ready
		case <-retry.C:
		case f := <-h.findings:
			found(f)
		}
		for l, waiting := range pending {
			for len(waiting) > 0 && h.recordFinding(l, waiting[0]) {
				waiting = waiting[1:]
			}
			pending[l] = waiting
		}
		if stopping {
			return
		}
	}
}

// recordFinding reports whether the alarm stands in the ledger now.
func (h *house) recordFinding(l *ledger.Ledger, f monitor.Finding) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_, err := l.Append(ctx, ledger.Proposal{Actor: audit.Daemon, Bodies: []audit.Body{
		&audit.Event{Kind: audit.EventAlarm, Alarm: audit.AlarmStatistics, Reason: f.String()}}})
	if err != nil {
		h.log.Error("writing the alarm of statistics into the ledger", "ledger", l.Info().Name, "error", err)
	}
	return err == nil
}
