package client

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// ErrNotWitnessed reports that the policy's quorum has not cosigned a commit or another entry yet, or has not cosigned
// a commit before it was played. In the first case the same call may be made again.
var ErrNotWitnessed = errors.New("the policy's quorum has not cosigned it")

// Unknown reports whether err leaves open what became of a command: an attempt got no answer, the daemon did not know
// the outcome, or what proves its answer could not be had. The same call with the same key tells.
func Unknown(err error) bool {
	_, ok := errors.AsType[*unresolved](err)
	return ok
}

// unresolved is the error of a call that the daemon may have carried out.
type unresolved struct{ error }

func (u *unresolved) Unwrap() error { return u.error }

// afterDone is the error of proving the answer to a command. The command was done, so an error that says nothing of the
// answer, such as that of a further call or of the State, leaves open what became of it.
func afterDone(err error) error {
	if _, fault := errors.AsType[*Fault](err); err == nil || fault || errors.Is(err, ErrNotWitnessed) {
		return err
	}
	return &unresolved{err}
}

// open reports whether an attempt that got a connection, and ended with err, may have been done.
func open(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return !ok || e.Code == CodeOutcomeUnknown || e.Code == "" && e.Status >= 500
}

// Error is a refusal: the daemon's problem document, or what can be made of the answer of a proxy. In the latter case
// Code is "".
type Error struct {
	Problem          // as the daemon sent it
	Detail    string // what is particular to this occurrence, or ""
	Field     string // the member, parameter or header at fault, such as runs[2].count, or ""
	RequestID string // names the request in the daemon's log, or ""
}

// read reads a problem document.
func (e *Error) read(answer []byte) error {
	err := json.Unmarshal(answer, &e.Problem)
	e.Detail, e.Field = deref(e.Problem.Detail), deref(e.Problem.Field)
	return err
}

func (e *Error) Error() string {
	answered := strings.TrimSpace(fmt.Sprintf("the daemon answered %d %s", e.Status, e.Code)) // a proxy has no code
	return answered + ": " + cmp.Or(e.Detail, e.Title)
}

// Fault is an answer that its own evidence contradicts. Something between the ledger's key and this program is wrong or
// lies. Deal nothing from the answer, and keep it: what is signed in it can be shown to others.
type Fault struct {
	What   string // what does not hold
	Answer []byte // the body as it came; of a check of the history, the newest signed checkpoint
	Other  []byte // of a fork, the signed checkpoint that contradicts Answer or that Answer does not extend; else nil
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

// reply is the body of an answer, and what the client knew when it asked.
type reply struct {
	asked
	body []byte
}

// fault is the Fault of an answer. err is the check that failed, or nil.
func (r reply) fault(what string, err error) error {
	return &Fault{What: what, Answer: r.body, Err: err}
}

func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// optional is v as a member that is absent if v is zero.
func optional[T comparable](v T) *T {
	if v == *new(T) {
		return nil
	}
	return &v
}
