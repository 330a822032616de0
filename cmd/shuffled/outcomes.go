package main

import (
	"context"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/entropy"
	"shuffled/internal/ledger"
	"shuffled/internal/monitor"
)

// watchOutcomes ends the windows of the monitor until the house stops.
func (h *house) watchOutcomes() {
	ctx, cancel := context.WithCancel(context.Background())
	h.watches.Go(func() {
		<-h.stop
		cancel()
	})
	h.monitor.Run(ctx)
}

// onFinding stops the generator, where it must, and hands the finding to
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

// maxFindings is how many findings wait to be written; later ones are in the log
// only.
const maxFindings = 16

// watchFindings writes each finding into every ledger, for one generator serves
// all, and tries until it stands; a daemon that is told to stop tries once more.
func (h *house) watchFindings() {
	retry := time.NewTicker(latchRetry)
	defer retry.Stop()
	pending := make(map[*ledger.Ledger][]monitor.Finding)
	for {
		stopping := false
		select {
		case <-h.stop:
			stopping = true
		case <-retry.C:
		case f := <-h.findings:
			for _, d := range h.dealers {
				if l := d.Ledger(); len(pending[l]) < maxFindings {
					pending[l] = append(pending[l], f)
				}
			}
		}
		for l, found := range pending {
			for len(found) > 0 && h.recordFinding(l, found[0]) {
				found = found[1:]
			}
			pending[l] = found
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
	_, err := l.Append(ctx, ledger.Proposal{Actor: "daemon", Bodies: []audit.Body{
		&audit.Event{Kind: audit.EventAlarm, Alarm: audit.AlarmStatistics, Reason: f.String()}}})
	if err != nil {
		h.log.Error("writing the alarm of statistics into the ledger", "ledger", l.Info().Name, "error", err)
	}
	return err == nil
}
