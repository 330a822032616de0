package ledger

import (
	"errors"
	"fmt"

	"shuffled/internal/audit"
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
	// ErrTooLarge: what was to be appended together does not fit into one batch.
	ErrTooLarge = errors.New("one append holds at most 1,024 entries and 8 MiB")
	// ErrClosed: the ledger is shutting down.
	ErrClosed = errors.New("the ledger is closed")
	// ErrUnavailable: the store did not answer; nothing was written.
	ErrUnavailable = errors.New("the store is unavailable")
	// ErrNotWitnessed: no cosigned checkpoint covers the entry yet.
	ErrNotWitnessed = errors.New("the witnesses have not cosigned the entry yet")
	// ErrMarkLocked: another process of this host writes the ledger.
	ErrMarkLocked = errors.New("another daemon holds the lock")
	// ErrNoMark: a ledger has entries, and this host has no high-water mark of it.
	ErrNoMark = errors.New("no high-water mark for a ledger with entries")
)

// ErrPolicy: the witnesses of a new policy did not cosign the newest checkpoint, and nothing was written.
var ErrPolicy = errors.New("the policy's quorum did not cosign the newest checkpoint")

// ErrNoKey: the private half of a signing key in force is not available. Nothing is signed; reads go on. It ends with a
// restart with the key, or when the agent that holds the key is back.
var ErrNoKey = errors.New("the signing key in force is not available: signing stopped")

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

// Cause says in plain words why a store does not do what it should. Anybody may read it, so it
// holds no address, role, path or value.
type Cause string

// The causes that stores report.
const (
	CauseSilent      Cause = "the database does not answer in time"
	CauseUnreachable Cause = "the database cannot be reached"
	CauseStarting    Cause = "the database is starting, stopping or out of connections"
	CauseStandby     Cause = "no synchronous standby confirms what is written"
	CauseReadOnly    Cause = "the database takes no writes: it is a standby, or read only"
	CauseDiskFull    Cause = "the disk of the database is full"
	CauseDisk        Cause = "the disk of the database fails"
	CauseLock        Cause = "another transaction holds a lock that is needed"
	CauseCertificate Cause = "the certificate of the database is not valid"
	CauseRefused     Cause = "the database refuses the role, its password or its rights"
	CauseParameter   Cause = "a pooler in front of the database refuses what the daemon sets for its sessions"
	CauseReplaced    Cause = "a file that the daemon has open was removed, replaced or cut"
	CauseDamaged     Cause = "the file of the database is damaged"
	CauseAltered     Cause = "a row of the database is not what the ledger says"
)

// causes say of each cause what ends it, to the engineer on call.
var causes = map[Cause]struct {
	cure   string
	passes bool // it may end without a change of the configuration
	reads  bool // entries can be read in spite of it
}{
	CauseSilent:      {cure: "check the server, and the network between this host and the server", passes: true},
	CauseUnreachable: {cure: "start the server, or correct host and port in database", passes: true},
	CauseStarting:    {cure: "wait, or raise max_connections", passes: true},
	CauseStandby: {cure: "bring a standby back, and never empty synchronous_standby_names to resume writing",
		passes: true, reads: true},
	CauseReadOnly: {cure: "name the primary in database, or promote this server", passes: true, reads: true},
	CauseDiskFull: {cure: "make room on the disk of the database", passes: true, reads: true},
	CauseDisk:     {cure: "read the kernel's log, mend the disk, then start the daemon again", passes: true, reads: true},
	CauseLock: {cure: "find who holds the lock (pg_stat_activity), and end that transaction", passes: true,
		reads: true},
	CauseCertificate: {cure: "correct sslmode and sslrootcert in database, or renew the server's certificate"},
	CauseRefused: {
		cure: "run passwords.sql as the database's administrator, or correct role and database_password_file"},
	CauseParameter: {cure: "set database_pooler to true"},
	CauseReplaced: {cure: "before the daemon stops, export the ledger and copy its open files: docs/operations/backup.md",
		reads: true},
	CauseAltered: {cure: "find the row, and who wrote it: shuffled audit fsck"},
	CauseDamaged: {cure: "restore database and -wal together, or what was rescued: docs/operations/backup.md"},
}

// Passes reports whether the cause may end without a change of the configuration. Then a start tries again.
func (c Cause) Passes() bool { return causes[c].passes }

// Reads reports whether entries can be read in spite of the cause.
func (c Cause) Reads() bool { return causes[c].reads }

// Cure says what ends the cause, "" for an unknown one.
func (c Cause) Cure() string { return causes[c].cure }

// StoreError is an error of a store whose cause is known.
type StoreError struct {
	Cause Cause
	Err   error // with details, for the log
}

func (e *StoreError) Error() string { return string(e.Cause) + ": " + e.Err.Error() }
func (e *StoreError) Unwrap() error { return e.Err }

// CauseOf returns the cause of an error, "" for one that has none.
func CauseOf(err error) Cause {
	var e *StoreError
	if errors.As(err, &e) {
		return e.Cause
	}
	return ""
}

// WithCause adds a cause to an error, if there is one.
func WithCause(err error, cause Cause) error {
	if cause == "" {
		return err
	}
	return &StoreError{Cause: cause, Err: err}
}

// Why a ledger that can be written takes no commit.
var (
	ErrLatched = errors.New("the entropy latch is set: no commits until administrators clear it")
	ErrKilled  = errors.New("the kill switch of the ledger is set: no commits until administrators clear it")
)

// ErrUnconfirmed is an ErrFrozen for which nobody has objected to the stored head.
var ErrUnconfirmed = errors.New("waiting for a quorum of witnesses")

// Cure says to the engineer on call what to do about an error of Abilities.
func Cure(err error) string {
	if cause := CauseOf(err); cause != "" {
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
