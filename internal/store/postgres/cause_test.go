package postgres

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"shuffled/internal/ledger"
	"shuffled/internal/stops"
	"shuffled/internal/store/storetest"
	"shuffled/internal/testdb"
)

// TestCauseOf: errors whose cause has a name, and errors that must not get one.
func TestCauseOf(t *testing.T) {
	t.Parallel()
	code := func(code string) error { return fmt.Errorf("inserting: %w", &pgconn.PgError{Code: code}) }
	for name, c := range map[string]struct {
		err  error
		want stops.Cause
	}{
		"disk full":         {code("53100"), stops.DiskFull},
		"disk fails":        {code("58030"), stops.Disk},
		"lock timeout":      {code("55P03"), stops.Lock},
		"read only":         {code("25006"), stops.ReadOnly},
		"password":          {code("28P01"), stops.Refused},
		"privilege":         {code("42501"), stops.Refused},
		"connections":       {code("53300"), stops.Starting},
		"starting":          {code("57P03"), stops.Starting},
		"statement timeout": {code("57014"), stops.Silent},
		"deadline":          {fmt.Errorf("reading: %w", context.DeadlineExceeded), stops.Silent},
		"refused": {&net.OpError{Op: "dial", Err: errors.New("connection refused")},
			stops.Unreachable},
		"cut": {fmt.Errorf("reading: %w", io.ErrUnexpectedEOF), stops.Unreachable},
		"certificate": {fmt.Errorf("tls: %w", &tls.CertificateVerificationError{Err: errors.New("expired")}),
			stops.Certificate},
		"unique index":         {code("23505"), ""},
		"a caller that leaves": {context.Canceled, ""},
		"another error":        {errors.New("no"), ""},
		"fsync is off":         {&refusal{stops.With(errors.New("fsync is off"), stops.Unsafe)}, stops.Unsafe},
	} {
		if got := stops.Of(clean(clean(c.err))); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestCauseStandby: what is written while no standby confirms it says so, and names it while it waits.
func TestCauseStandby(t *testing.T) {
	t.Parallel()
	c := testdb.Start(t)
	dsn := c.Database(t)
	migrate(t, dsn)
	s := open(t, dsn, Options{Timeout: 2 * time.Second})
	l := storetest.Create(t, s)
	c.Set(t, "synchronous_standby_names", "nobody")
	appended := make(chan error, 1)
	go func() { appended <- s.Append(t.Context(), l.ID, l.Head, l.Next(1)) }()
	until(t, "the store that says what it waits for", func() bool { return s.Blocked() == stops.Standby })
	if err := <-appended; !errors.Is(err, ledger.ErrUnknownOutcome) || stops.Of(err) != stops.Standby {
		t.Errorf("an append that no standby confirms: %v", err)
	}
	pooled := open(t, dsn, Options{Timeout: 2 * time.Second, Pooler: true})
	const highest = 1<<32 - 1 // number of a process that a pooler gives
	if cause := pooled.waits(t.Context(), highest); cause != "" {
		t.Errorf("a process that is not there waits: %q", cause)
	}
	if log, err := os.ReadFile(c.LogFile()); err != nil || strings.Contains(string(log), "out of range") {
		t.Errorf("a number of a pooler: %v\n%s", err, log)
	}
	c.Set(t, "synchronous_standby_names", "")
	until(t, "the head", func() bool { _, err := s.Head(t.Context(), l.ID); return err == nil })
	if s.Blocked() != "" {
		t.Errorf("nothing waits: %q", s.Blocked())
	}
}

// TestSilence: a server that accepts connections and says nothing ends the opening,
// and every statement on a connection that it had, by the timeout.
func TestSilence(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp4", "127.0.0.1:0")
	must(t, err)
	defer silent.Close() // the backlog accepts
	o := Options{Timeout: 300 * time.Millisecond}
	if _, err := Open(t.Context(), "postgres://u@"+silent.Addr().String()+"/d?sslmode=disable",
		o); stops.Of(err) != stops.Silent {
		t.Errorf("opening: %v", err)
	}
	if err := MigrateUp(t.Context(), "postgres://u@"+silent.Addr().String()+"/d?sslmode=disable",
		o); stops.Of(err) != stops.Silent {
		t.Errorf("migrating: %v", err)
	}
	dsn := migrated(t)
	l := storetest.Create(t, open(t, dsn, Options{}))
	proxy := testdb.NewProxy(t, dsn)
	var holds atomic.Bool
	proxy.Fault = func(string) testdb.Fault {
		if holds.Load() {
			return testdb.HoldReply
		}
		return testdb.Pass
	}
	s := open(t, proxy.DSN, Options{Timeout: 2 * time.Second, recheck: time.Hour})
	holds.Store(true)
	for name, ask := range map[string]func() error{
		"head":    func() error { _, err := s.Head(t.Context(), l.ID); return err },
		"ledgers": func() error { _, err := s.Ledgers(t.Context()); return err },
		"append":  func() error { return s.Append(t.Context(), l.ID, l.Head, l.Next(1)) },
	} {
		if err := ask(); stops.Of(err) != stops.Silent {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCausesHoldNoValues: an error whose cause was found holds no more than another.
func TestCausesHoldNoValues(t *testing.T) {
	t.Parallel()
	raw := &pgconn.PgError{Severity: "ERROR", Code: "55P03", Message: "locked", Detail: "Key (key_tag)=(secret)"}
	for _, err := range []error{clean(raw), clean(stops.With(raw, stops.Lock)),
		outcome(stops.With(raw, stops.Lock))} {
		var pg *pgconn.PgError
		if !errors.As(err, &pg) || pg.Detail != "" || stops.Of(err) != stops.Lock {
			t.Errorf("%+v", pg)
		}
	}
}

// TestCauseOfName: a host whose name does not resolve may come back with it.
func TestCauseOfName(t *testing.T) {
	t.Parallel()
	_, err := Open(t.Context(), "postgres://nowhere.invalid/x", Options{})
	var name *net.DNSError
	if cause := stops.Of(err); !cause.Passes() {
		t.Errorf("a name that does not resolve has the cause %q: %v", cause, err)
	}
	if _, lookup := net.LookupHost("nowhere.invalid"); !errors.As(lookup, &name) || causeOf(lookup) == "" {
		t.Errorf("the resolver says %v", lookup)
	}
}
