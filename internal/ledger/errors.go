package ledger

import (
	"errors"
	"fmt"

	"shuffled/internal/audit"
	"shuffled/internal/stops"
)

// The errors of a ledger, alongside *audit.Illegal and those of the store.
var (
	// ErrFrozen: signing stopped because the stored ledger does not extend what was seen, or
	// cannot be compared with it. Reads go on.
	ErrFrozen = errors.New("the stored ledger does not extend what was seen: signing stopped")
	// ErrClock: the clock stepped further than the limit.
	ErrClock = errors.New("the clock stepped")
	// ErrOverloaded: too many requests wait, or this one waited too long. Nothing was written.
	ErrOverloaded = errors.New("the queue is full")
	// ErrBehind: what is in front of this may yet be written. A close must not go without the deal in front of it.
	ErrBehind = fmt.Errorf("%w: the batch goes on from an operation before this one", ErrOverloaded)
	// ErrTooLarge: what was to be appended together does not fit into one batch.
	ErrTooLarge = errors.New("one append holds at most 1,024 entries and 8 MiB")
	// ErrClosed: the ledger is shutting down.
	ErrClosed = errors.New("the ledger is closed")
	// ErrUnavailable: the store did not answer; nothing was written.
	ErrUnavailable = errors.New("the store is unavailable")
	// ErrNotWitnessed: no cosigned checkpoint covers the entry yet.
	ErrNotWitnessed = errors.New("the witnesses have not cosigned the entry yet")
	// ErrPolicy: the witnesses of a new policy did not cosign the newest checkpoint, and nothing was written.
	ErrPolicy = errors.New("the policy's quorum did not cosign the newest checkpoint")
	// ErrNoKey: the private half of a signing key in force is not available. Nothing is signed; reads go on. It ends
	// with a restart with the key, or when the agent that holds the key is back.
	ErrNoKey = errors.New("the signing key in force is not available: signing stopped")
	// ErrUnconfirmed is an ErrFrozen for which nobody has objected to the stored head.
	ErrUnconfirmed = errors.New("waiting for a quorum of witnesses")
)

// Unavailable marks an error of the store, or of the connection to it, as ErrUnavailable. An
// error that has a name stays as it is.
func Unavailable(err error) error {
	for _, named := range []error{nil, ErrNotFound, ErrExists, ErrStale, ErrUnknownOutcome, ErrFrozen, ErrUnavailable,
		ErrOverloaded} {
		if errors.Is(err, named) {
			return err
		}
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}

// Why a ledger that can be written takes no commit.
var (
	ErrLatched = errors.New("the entropy latch is set: no commits until administrators clear it")
	ErrKilled  = errors.New("the kill switch of the ledger is set: no commits until administrators clear it")
)

// Cure says to the engineer on call what to do about an error of Abilities.
func Cure(err error) string {
	if cause := stops.Of(err); cause != "" {
		return cause.Cure()
	}
	for _, known := range []struct {
		err  error
		cure string
	}{
		{ErrUnconfirmed, "start the witnesses that do not answer: docs/operations/witnesses.md"},
		{ErrFrozen, "find out which copy of the ledger is the true one, before anything else: docs/operations/backup.md"},
		{ErrNoKey, "give this daemon the key in force, or unlock its agent: docs/operations/keys.md"},
		{ErrClock, "let a time service set the clock: docs/operations/runbooks.md"},
		{ErrNotWitnessed, "start the witnesses that are not ok: docs/operations/witnesses.md"},
		{ErrLatched, "find out what failed, then clear the latch by an act: docs/operations/runbooks.md"},
		{ErrKilled, "clear the switch by an act when its reason has gone: docs/operations/runbooks.md"},
	} {
		if errors.Is(err, known.err) {
			return known.cure
		}
	}
	return "read the daemon's log, which has the details: docs/operations/runbooks.md"
}

// NotTaken is the refusal of a key entry.
func NotTaken(format string, args ...any) error {
	return &audit.Illegal{Code: audit.RuleKey, Detail: fmt.Sprintf(format, args...)}
}
