package main

import (
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/entropy"
	"shuffled/internal/monitor"
)

// countLeast is how long a window by count lasts at least; 0 is monitor.CountLeast.
// Only tests set it, before anything runs.
var countLeast time.Duration

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

// maxFindings is how many findings wait in the channel, and how many events more for
// each ledger; later ones are in the log only.
const maxFindings = 16

// watchFindings writes each finding into every ledger.
func (h *house) watchFindings() {
	keepWriting(h, h.findings, func(f monitor.Finding) *audit.Event {
		return &audit.Event{Kind: audit.EventAlarm, Alarm: audit.AlarmStatistics, Reason: f.String()}
	})
}
