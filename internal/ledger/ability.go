package ledger

import (
	"errors"

	"shuffled/internal/audit"
)

// Why a ledger that can be written takes no commit.
var (
	errLatched = errors.New("the entropy latch is set: no commits until administrators clear it")
	errKilled  = errors.New("the kill switch of the ledger is set: no commits until administrators clear it")
)

// Abilities say what a ledger can do now. An error is nil if it can, and says why not otherwise.
type Abilities struct {
	Read   error // entries, evidence, events
	Commit error // a new shuffle
	Deal   error // from a shuffle that stands; close it
}

// Ready reports whether everything works. The kill switch of the ledger is an order and no fault: a load balancer goes
// on sending requests.
func (a Abilities) Ready() bool {
	return a.Read == nil && a.Deal == nil && (a.Commit == nil || errors.Is(a.Commit, errKilled))
}

// Abilities returns what the ledger can do now, as far as that is not a matter of one shuffle.
func (l *Ledger) Abilities() (a Abilities) {
	a.Commit = l.Ready()
	if cause := CauseOf(a.Commit); cause != "" && !cause.reads() {
		a.Read = a.Commit
	}
	if a.Deal = a.Commit; a.Deal == nil && l.Genesis().Deals == audit.DealsCosigned {
		a.Deal = l.witnesses.lacking()
	}
	if live := l.live.Load(); a.Commit == nil && live.Latched {
		a.Commit = errLatched
	} else if a.Commit == nil && live.Killed {
		a.Commit = errKilled
	}
	return a
}

// Cure says to the engineer on call what to do about an error of Abilities.
func Cure(err error) string {
	if cause := CauseOf(err); cause != "" {
		return cause.Cure()
	}
	for _, known := range []struct {
		err  error
		cure string
	}{
		{ErrFrozen, "find out which copy of the ledger is the true one, before anything else: docs/operations/backup.md"},
		{ErrNoKey, "give this daemon the key in force, or unlock its agent: docs/operations/keys.md"},
		{ErrClock, "let a time service set the clock: docs/operations/runbooks.md"},
		{ErrNotWitnessed, "start the witnesses that are not ok: docs/operations/witnesses.md"},
		{errLatched, "find out what failed, then clear the latch by an act: docs/operations/runbooks.md"},
		{errKilled, "clear the switch by an act when its reason has gone: docs/operations/runbooks.md"},
	} {
		if errors.Is(err, known.err) {
			return known.cure
		}
	}
	return "read the daemon's log, which has the details: docs/operations/runbooks.md"
}
