package client

import "fmt"

// Error is a refusal: the daemon's problem document, or as much of one as an
// answer from something in between has. Code is "" in the latter case.
type Error struct {
	Problem
	RequestID string // names the request in the daemon's log, or ""
}

func (e *Error) Error() string {
	s := fmt.Sprintf("the daemon answered %d", e.Status)
	if e.Code != "" {
		s += " " + string(e.Code)
	}
	for _, more := range []string{deref(e.Field), e.Title, deref(e.Detail)} {
		if more != "" {
			s += ": " + more
		}
	}
	return s
}

// Fault is an answer that its own evidence does not bear out. Something between
// the ledger's key and this program is wrong or lies: deal nothing from it, and
// keep the answer, for what is signed in it can be shown to others.
type Fault struct {
	What   string // what does not hold
	Answer []byte // the body as it came
	Err    error  // the check that failed, or nil
}

func (f *Fault) Error() string {
	if f.Err != nil {
		return fmt.Sprintf("the answer is not to be believed: %s: %v", f.What, f.Err)
	}
	return "the answer is not to be believed: " + f.What
}

// Unwrap returns the check that failed.
func (f *Fault) Unwrap() error { return f.Err }

func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
