// Package stops is the table of what stops a start or keeps a store from its work: the words that serve, doctor and
// /readyz print, what ends the cause, and the exit code. docs/operations/alerts.md is written from it.
package stops

import (
	"cmp"
	"errors"
)

// Cause says in plain words why a start ends or waits. It is an error, which a longer sentence wraps. Anybody may read
// it, so it holds no address, role, path or value.
type Cause string

// The causes that stores report.
const (
	Silent      Cause = "the database does not answer in time"
	Unreachable Cause = "the database cannot be reached"
	Starting    Cause = "the database is starting, stopping or out of connections"
	Standby     Cause = "no synchronous standby confirms what is written"
	ReadOnly    Cause = "the database takes no writes: it is a standby, or read only"
	DiskFull    Cause = "the disk of the database is full"
	Disk        Cause = "the disk of the database fails"
	Lock        Cause = "another transaction holds a lock that is needed"
	Certificate Cause = "the certificate of the database is not valid"
	Refused     Cause = "the database refuses the role, its password or its rights"
	Parameter   Cause = "a pooler in front of the database refuses what the daemon sets for its sessions"
	Replaced    Cause = "a file that the daemon has open was removed, replaced or cut"
	Damaged     Cause = "the file of the database is damaged"
	Altered     Cause = "a row of the database is not what the ledger says"
	Unsafe      Cause = "a crash or failover could lose what was acknowledged"
	Superuser   Cause = "the role is a superuser, which nothing in the database can stop"
	TablesOld   Cause = "the tables are older than this program"
	TablesNew   Cause = "the program is too old for the tables"
	NoLedger    Cause = "there is no ledger"
)

// The causes on the daemon's own host.
const (
	Setting      Cause = "There is no setting"
	Mode         Cause = "unsafe file mode"
	Expired      Cause = "clients refuse a certificate outside its time"
	Listener     Cause = "another program listens at"
	KnownAnswers Cause = "known-answer tests failed"
	MarkLocked   Cause = "another daemon holds the lock"
	NoMark       Cause = "no high-water mark for a ledger with entries"
	Intervals    Cause = "without the witnesses that have an interval the quorum cannot be met"
)

// table says of each cause what ends it, to the engineer on call.
var table = map[Cause]struct {
	cure   string
	passes bool // it may end without a change of the configuration
	reads  bool // entries can be read in spite of it
	exit   int  // the exit code, 0 for 3
}{
	Silent:      {cure: "check the server, and the network between this host and the server", passes: true},
	Unreachable: {cure: "start the server, or correct host and port in database", passes: true},
	Starting:    {cure: "wait, or raise max_connections", passes: true},
	Standby: {cure: "bring a standby back, and never empty synchronous_standby_names to resume writing", passes: true,
		reads: true},
	ReadOnly: {cure: "name the primary in database, or promote this server", passes: true, reads: true},
	DiskFull: {cure: "make room on the disk of the database", passes: true, reads: true},
	Disk:     {cure: "read the kernel's log, mend the disk, then start the daemon again", passes: true, reads: true},
	Lock: {cure: "find who holds the lock (pg_stat_activity), and end that transaction", passes: true,
		reads: true},
	Certificate: {cure: "correct sslmode and sslrootcert in database, or renew the server's certificate"},
	Refused:     {cure: "run passwords.sql as the database's administrator, or correct role and database_password_file"},
	Parameter:   {cure: "set database_pooler to true"},
	Replaced: {cure: "before the daemon stops, export the ledger and copy its open files: docs/operations/backup.md",
		reads: true},
	Damaged:   {cure: "restore database and -wal together, or what was rescued: docs/operations/backup.md"},
	Altered:   {cure: "find the row, and who wrote it: shuffled audit fsck"},
	Unsafe:    {cure: "set fsync, full_page_writes and synchronous_commit to on"},
	Superuser: {cure: "use the writer of deploy/roles.sql"},
	TablesOld: {cure: "as their owner run shuffled migrate up: docs/operations/availability.md"},
	TablesNew: {cure: "use the program that migrated them, or a newer one"},
	NoLedger:  {cure: "create it with shuffled ledger create, or name another database"},

	Setting:      {cure: "correct the line that the sentence names; configs/shuffled.example.toml has every setting", exit: 2},
	Mode:         {cure: "give the file the mode that the sentence names"},
	Expired:      {cure: "renew the certificate, or correct this host's clock"},
	Listener:     {cure: "name another address, or end that program, of which shuffled doctor says more"},
	KnownAnswers: {cure: "do not use this program: docs/OPERATIONS.md, known-answer tests"},
	MarkLocked:   {cure: "end the other process of this host; if it serves the ledger, give its address with --url"},
	NoMark: {cure: "if another daemon serves this ledger, copy its mark to this place; if this database is a restored " +
		"copy, start no daemon on it, because what it signs would be a fork: shuffled audit fsck --since CHECKPOINT tries " +
		"it, and shuffled act do adopt_head adopts it", reads: true},
	Intervals: {cure: "remove as many of these witnesses from witness.intervals as the quorum needs"},
}

func (c Cause) Error() string { return string(c) }

// Passes reports whether the cause may end without a change of the configuration. Then a start tries again.
func (c Cause) Passes() bool { return table[c].passes }

// Reads reports whether entries can be read in spite of the cause.
func (c Cause) Reads() bool { return table[c].reads }

// Cure says what ends the cause, "" for an unknown one.
func (c Cause) Cure() string { return table[c].cure }

// Exit returns the exit code of a start that the cause ends: 3, or 2 after a wrong configuration.
func (c Cause) Exit() int { return cmp.Or(table[c].exit, 3) }

// Of returns the cause of an error, "" for one that has none.
func Of(err error) Cause {
	cause, _ := errors.AsType[Cause](err)
	return cause
}

// Error is an error whose cause is known.
type Error struct {
	Cause Cause
	Err   error // with details, for the log
}

func (e *Error) Error() string   { return string(e.Cause) + ": " + e.Err.Error() }
func (e *Error) Unwrap() []error { return []error{e.Cause, e.Err} }

// With adds a cause to an error, if there is one.
func With(err error, cause Cause) error {
	if cause == "" {
		return err
	}
	return &Error{cause, err}
}
