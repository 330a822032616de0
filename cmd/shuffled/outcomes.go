package main

import (
	"context"
	"slices"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/entropy"
	"shuffled/internal/ledger"
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

// writeRetry is how often an event that could not be written is tried again.
const writeRetry = time.Second

// keepWriting writes the event of each thing that comes into every ledger, for one
// generator serves all, and tries until it stands; a daemon that is told to stop tries
// once more. A ledger that is opened later gets what came before.
func keepWriting[T any](h *house, come <-chan T, event func(T) *audit.Event) {
	retry := time.NewTicker(writeRetry)
	defer retry.Stop()
	pending := make(map[*ledger.Ledger][]*audit.Event)
	var came []*audit.Event
	look := func() {
		for _, s := range h.open() {
			if _, known := pending[s.ledger()]; !known {
				pending[s.ledger()] = slices.Clone(came)
			}
		}
	}
	take := func(v T) {
		look()
		e := event(v)
		if len(came) < maxFindings {
			came = append(came, e)
		}
		for l, waiting := range pending {
			if len(waiting) >= maxFindings {
				h.log.Error("the ledger does not say so: earlier events wait to be written", "ledger", l.Info().Name,
					"event", e.Kind.String(), "reason", e.Reason)
				continue
			}
			pending[l] = append(waiting, e)
		}
	}
	for stopping := false; !stopping; {
		select {
		case <-h.last:
			stopping = true
			for len(come) > 0 { // select chooses at random among what is ready
				take(<-come)
			}
		case <-retry.C:
		case v := <-come:
			take(v)
		}
		look()
		for l, waiting := range pending {
			for len(waiting) > 0 && h.write(l, *waiting[0]) {
				waiting = waiting[1:]
			}
			pending[l] = waiting
		}
	}
}

// write reports whether the event stands in the ledger now.
func (h *house) write(l *ledger.Ledger, e audit.Event) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_, err := l.Append(ctx, ledger.Proposal{Actor: audit.Daemon, Bodies: []audit.Body{&e}})
	if err != nil {
		h.log.Error("writing an event into the ledger", "ledger", l.Info().Name, "event", e.Kind.String(), "error", err)
	}
	return err == nil
}
