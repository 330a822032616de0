package inspect

import (
	"fmt"

	"shuffled/internal/audit"
	"shuffled/internal/bundle"
)

// EventLine is an event that a reader of the report may ask about: a daemon's start, an alarm, a latch, a kill switch.
type EventLine struct {
	Entry      uint64 `json:"entry"` // index
	Time       string `json:"time"`
	Identity   string `json:"identity"`
	Credential string `json:"credential"`
	Kind       string `json:"kind"`             // as in docs/SPEC.md section 5.8
	Detail     string `json:"detail,omitempty"` // in plain words; may change
}

// note keeps an event of the period, at most MaxListed.
func (f *fold) note(e audit.Entry, index uint64) {
	b, ok := e.Body.(*audit.Event)
	if !ok || len(f.report.Events) == MaxListed || e.Time < f.opts.From || f.opts.To != 0 && e.Time >= f.opts.To {
		return
	}
	if detail, ok := telling(b); ok {
		f.report.Events = append(f.report.Events, EventLine{Entry: index, Time: bundle.FormatTime(e.Time),
			Kind: b.Kind.String(), Detail: detail, Identity: e.Actor.Identity, Credential: e.Actor.Credential})
	}
}

// telling describes an event of a kind that is listed; ok is false for other kinds.
func telling(e *audit.Event) (detail string, ok bool) {
	switch e.Kind {
	case audit.EventInstanceStart:
		fips := ""
		if e.FIPS {
			fips = ", in FIPS 140-3 mode"
		}
		return fmt.Sprintf("version %s, executable %x…%s", e.Name, e.Build[:8], fips), true
	case audit.EventLatchSet:
		return fmt.Sprintf("%s, seen by the daemon of entry %d", e.Latch, e.Instance), true
	case audit.EventLatchClear:
		return e.Reason, true
	case audit.EventAlarm:
		return fmt.Sprintf("%s: %s", e.Alarm, e.Reason), true
	case audit.EventKillSet, audit.EventKillClear:
		what := e.Scope.String()
		switch e.Scope {
		case audit.ScopeTable:
			what += " " + e.Name
		case audit.ScopeDeck:
			what += fmt.Sprintf(" %x…", e.Deck[:8])
		}
		return what + ": " + e.Reason, true
	}
	return "", false
}
