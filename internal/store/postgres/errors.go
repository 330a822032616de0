package postgres

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"shuffled/internal/ledger"
	"shuffled/internal/stops"
)

// SQLSTATE codes that are distinguished (PostgreSQL documentation, appendix A).
const (
	codeForeignKey       = "23503"
	codeUnique           = "23505"
	codeReadOnly         = "25006"
	codeDiskFull         = "53100"
	codeIO               = "58030"
	codeTooMany          = "53300"
	codeLock             = "55P03" // lock_timeout ended the wait for it
	codePrivilege        = "42501"
	codeCancelled        = "57014"
	classAuthorization   = "28"
	codeSerialization    = "40001" // of distributed engines, which have no other way
	codeDeadlock         = "40P01"
	codeOutcomeUnknown   = "40003" // statement_completion_unknown, of distributed engines
	classConnection      = "08"
	codeAdminShutdown    = "57P01"
	codeCrashShutdown    = "57P02"
	codeCannotConnectNow = "57P03"
)

// outcome turns the error of a statement that writes into one that says whether its rows may have been written. If they
// were not, it is a *pgconn.PgError of the server or an error of the connection. If that is not known, it is
// ledger.ErrUnknownOutcome.
func outcome(err error) error {
	var pg *pgconn.PgError
	if pgconn.SafeToRetry(err) || errors.As(err, &pg) && definite(pg) {
		return clean(err)
	}
	return fmt.Errorf("%w: %w", ledger.ErrUnknownOutcome, clean(err))
}

// definite reports whether the error means that the statement's transaction was rolled back. An ERROR does: once the
// commit of a transaction is in the log, the server sends a WARNING or ends the connection, and no longer an ERROR.
// That includes 57014, query_canceled, of a statement_timeout or a cancel request: if it comes too late, during the
// wait for a standby, the server sends a WARNING (noteSyncCancel) and no error. FATAL and PANIC end the connection
// without saying how far the statement got. With the codes below, poolers and distributed engines report that they do
// not know.
func definite(pg *pgconn.PgError) bool {
	severity := cmp.Or(pg.SeverityUnlocalized, pg.Severity)
	if severity != "ERROR" || strings.HasPrefix(pg.Code, classConnection) {
		return false
	}
	switch pg.Code {
	case codeOutcomeUnknown, codeAdminShutdown, codeCrashShutdown, codeCannotConnectNow:
		return false
	}
	return true
}

// rolledBack reports whether the server ended the transaction in favour of another one, so that it may succeed if it is
// sent again unchanged.
func rolledBack(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && definite(pg) && (pg.Code == codeSerialization || pg.Code == codeDeadlock)
}

// isCode reports whether err is an error of the server with this code.
func isCode(err error, code string) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == code
}

// clean returns err without the parts that may hold values or secrets: the details of a server's error name values of
// keys, and the driver's errors carry its configuration with the password. It names the cause, if that is one of those
// that are distinguished.
func clean(err error) error {
	if err == nil || errors.Is(err, errUnreplicated) {
		return err
	}
	if r, ok := errors.AsType[*refusal](err); ok {
		return r.error
	}
	if known, ok := errors.AsType[*stops.Error](err); ok {
		return stops.With(stripped(known.Err), known.Cause)
	}
	return stops.With(stripped(err), causeOf(err))
}

// causeOf names the cause of an error of the driver.
func causeOf(err error) stops.Cause {
	var pg *pgconn.PgError
	var network net.Error
	switch {
	case errors.As(err, &pg) && strings.HasPrefix(pg.Message, "unsupported startup parameter"): // of PgBouncer
		return stops.Parameter
	case errors.As(err, &pg):
		return causeOfCode(pg.Code)
	case errors.As(err, new(*tls.CertificateVerificationError)), errors.As(err, new(tls.AlertError)):
		return stops.Certificate // an alert: the other side refused the certificate of this one
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return stops.Silent
	case errors.As(err, new(*net.OpError)), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.As(err, new(*net.DNSError)): // a cluster that is gone may have no name any more
		return stops.Unreachable
	}
	return ""
}

var causes = map[string]stops.Cause{
	codeDiskFull: stops.DiskFull, codeIO: stops.Disk, codeLock: stops.Lock,
	codeReadOnly: stops.ReadOnly, codePrivilege: stops.Refused,
	codeTooMany: stops.Starting, codeAdminShutdown: stops.Starting, codeCrashShutdown: stops.Starting,
	codeCannotConnectNow: stops.Starting,
	codeCancelled:        stops.Silent, // by statement_timeout
}

// causeOfCode names the cause of a SQLSTATE.
func causeOfCode(code string) stops.Cause {
	switch cause, known := causes[code]; {
	case known:
		return cause
	case strings.HasPrefix(code, classAuthorization):
		return stops.Refused
	case strings.HasPrefix(code, classConnection): // of poolers
		return stops.Unreachable
	}
	return ""
}

// stripped is err without values and secrets.
func stripped(err error) error {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return &pgconn.PgError{Severity: pg.Severity, SeverityUnlocalized: pg.SeverityUnlocalized,
			Code: pg.Code, Message: pg.Message, ConstraintName: pg.ConstraintName}
	}
	for _, known := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, known) {
			return known
		}
	}
	// The driver tries an address twice, with TLS and without, and reports both.
	var lines []string
	for line := range strings.SplitSeq(err.Error(), "\n") {
		if line = strings.TrimSpace(line); !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return errors.New(strings.Join(lines, " "))
}

// errUnreplicated reports a commit whose wait for a standby was cut short: it is visible, and may yet be lost.
var errUnreplicated = stops.With(errors.New("the wait for a synchronous standby was cancelled"), stops.Standby)

const syncCancelled = "shuffled: sync cancelled"

// noteSyncCancel notes on the connection the warning with which PostgreSQL ends a commit that was not replicated. Some
// servers translate its text, but not the name of the function that sends it. The notice arrives while the reply is
// read, in the goroutine that holds the connection.
func noteSyncCancel(conn *pgconn.PgConn, n *pgconn.Notice) {
	if n.Routine == "SyncRepWaitForLSN" || strings.Contains(n.Message, "wait for synchronous replication") {
		conn.CustomData()[syncCancelled] = true
	}
}

// replicated reports what noteSyncCancel noted, and clears the note.
func replicated(conn *pgconn.PgConn) error {
	if _, noted := conn.CustomData()[syncCancelled]; noted {
		delete(conn.CustomData(), syncCancelled)
		return errUnreplicated
	}
	return nil
}
