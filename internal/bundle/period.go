package bundle

import "time"

// Period is the time that a report was asked for. It bounds the report, never the proof.
type Period struct {
	From string `json:"from,omitempty"` // first instant in it; absent: the ledger's beginning
	To   string `json:"to,omitempty"`   // first instant after it; absent: none
}

// newPeriod returns the period between two times; a zero time is no bound.
func newPeriod(from, to time.Time) (p Period) {
	if !from.IsZero() {
		p.From = FormatTime(from.UnixMilli())
	}
	if !to.IsZero() {
		p.To = FormatTime(to.UnixMilli())
	}
	return p
}
