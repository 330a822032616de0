package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"shuffled/internal/config"
	"shuffled/internal/stops"
	"shuffled/internal/testdb"
)

// TestStartSays: a start that waits for a database says so, in the log and on /readyz, before it ends, and succeeds
// when the database answers: behind an address that accepts connections and says nothing, and where the first statement
// of each kind gets no answer.
func TestStartSays(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { silent.Close() }) // the backlog accepts
	t.Run("no greeting", func(t *testing.T) {
		t.Parallel()
		dsn := testdb.DSN(t)
		proxy := testdb.NewProxy(t, dsn)
		proxy.Aim(t, "postgres://"+silent.Addr().String()+"/x")
		d := startWaits(t, proxy.DSN, "database")
		proxy.Aim(t, dsn)
		d.waitFor(d.url+"/readyz", func(r *http.Response) bool { return r.StatusCode == http.StatusOK })
		d.stop()
	})
	for statement, says := range map[string]string{
		"pg_advisory_lock": "another daemon",
		"FROM heads":       "head of the ledger",
	} {
		t.Run(says, func(t *testing.T) {
			t.Parallel()
			proxy := testdb.NewProxy(t, testdb.DSN(t))
			var held atomic.Bool
			proxy.Fault = func(sql string) testdb.Fault {
				if strings.Contains(sql, statement) && !held.Swap(true) {
					return testdb.HoldReply
				}
				return testdb.Pass
			}
			d := startWaits(t, proxy.DSN, says)
			d.waitFor(d.url+"/readyz", func(r *http.Response) bool { return r.StatusCode == http.StatusOK })
			if !strings.Contains(d.logged(), "the start is tried again") {
				t.Errorf("it did not say that it tries again:\n%s", d.logged())
			}
			d.stop()
		})
	}
}

// TestStartSaysAll: a start that waits for two databases names both, until each answers; and it ends with
// no other word than what it waited for.
func TestStartSaysAll(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, config.StatisticsWarn)
	main := s.cfg.Ledgers[0]
	s.cfg.Database = "postgres://127.0.0.1:1/x"
	for i, name := range []string{"far", "farther"} {
		s.cfg.Ledgers = append(s.cfg.Ledgers, config.Ledger{Name: name, SigningKey: main.SigningKey,
			Database: fmt.Sprintf("postgres://127.0.0.1:%d/x", i+2)})
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	all := []string{"the database: " + string(stops.Unreachable),
		"the database of ledger far: " + string(stops.Unreachable),
		"the database of ledger farther: " + string(stops.Unreachable)}
	said := ""
	start := &waiting{log: slog.New(slog.DiscardHandler), tell: func(what string) {
		if said = what; !slices.ContainsFunc(all, func(one string) bool { return !strings.Contains(what, one) }) {
			cancel()
		}
	}}
	err := s.openLedgers(ctx, words{}, start, func(*openedLedger) error { return nil })
	if err == nil || said != "" || !errors.Is(ctx.Err(), context.Canceled) {
		t.Errorf("a start that was ended: %v; at last it waits for %q", err, said)
	}
}

// TestStartEnded: a start that is ended while a database does not answer says only that, unless there is
// a doubt about another ledger, also where the doubt comes last.
func TestStartEnded(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, config.StatisticsWarn)
	s.cfg.Ledgers = append(s.cfg.Ledgers, config.Ledger{Name: "far", SigningKey: s.cfg.Ledgers[0].SigningKey,
		Database: "postgres://127.0.0.1:1/x"})
	for _, doubt := range []error{nil, errors.New("another root")} {
		err := s.house.close()
		if err != nil {
			t.Fatal(err)
		}
		if s.house, err = openHouse(t.Context(), s.cfg, slog.New(slog.DiscardHandler)); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		over := make(chan struct{})
		start := &waiting{log: slog.New(slog.DiscardHandler), tell: func(what string) {
			if ctx.Err() != nil && what == "" {
				select {
				case <-over:
				default:
					close(over)
				}
			}
		}}
		err = s.openLedgers(ctx, words{}, start, func(*openedLedger) error {
			cancel()
			<-over // the other database is not waited for any more
			return doubt
		})
		if isEnded(err) != (doubt == nil) || !errors.Is(err, doubt) && doubt != nil {
			t.Errorf("with the doubt %v: %v", doubt, err)
		}
	}
}

// TestFilesFirst: what is wrong with a file ends the start before a database is waited for.
func TestFilesFirst(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, config.StatisticsWarn)
	const codealer = "lab.example.org/orders https://lab.example.org/v1/orders /token"
	far := config.Ledger{Name: "far", SigningKey: s.cfg.Ledgers[0].SigningKey, Database: "postgres://127.0.0.1:1/x"}
	ledgers := s.cfg.Ledgers
	file := filepath.Join(s.cfg.Data, "house")
	if err := errors.Join(os.WriteFile(file, []byte("log x\n"), 0o600),
		os.Mkdir(filepath.Join(s.cfg.Data, "far.seen.lab.example.org_orders.forked"), 0o700)); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*config.Ledger){
		"the policy of a house":                    func(l *config.Ledger) { l.Houses = []string{file} },
		"the co-dealer lab.example.org/orders":     func(l *config.Ledger) { l.CoDealers = []string{codealer} },
		"co_dealers of ledger far must have three": func(l *config.Ledger) { l.CoDealers = []string{"x"} },
	} {
		l := far
		change(&l)
		s.cfg.Ledgers = append(slices.Clone(ledgers), l)
		start := &waiting{log: slog.New(slog.DiscardHandler), tell: func(what string) {
			if what != "" {
				t.Errorf("%s: the start waits for %s", want, what)
			}
		}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		err := s.openLedgers(ctx, words{}, start, func(*openedLedger) error { return errors.New("a ledger is served") })
		cancel()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// startWaits starts a sandbox and returns when readiness and the log say what it waits for.
func startWaits(t *testing.T, dsn, says string) *daemon {
	t.Helper()
	d := newDaemon(t, dsn)
	d.launchUntil(d.url+"/readyz", func(r *http.Response) bool {
		var answer struct {
			Ready  bool
			Reason string
		}
		if err := json.NewDecoder(r.Body).Decode(&answer); err != nil || answer.Ready {
			t.Fatalf("readiness before the database answers: %d, %v, %+v", r.StatusCode, err, answer)
		}
		return strings.HasPrefix(answer.Reason, "waiting for ") && strings.Contains(answer.Reason, says)
	}, []string{"serve", "--dev", "--data", d.data, "--listen", d.addr, "--database", dsn})
	if log := d.logged(); !strings.Contains(log, "the start waits") || !strings.Contains(log, says) {
		t.Errorf("the log does not say what it waits for:\n%s", log)
	}
	return d
}

// TestNoStandbyIsNamed: readiness and the answer to a commit name the cause that
// keeps commits from being acknowledged, and no address.
func TestNoStandbyIsNamed(t *testing.T) {
	t.Parallel()
	cluster := testdb.Start(t)
	dsn := cluster.Database(t)
	d := newDaemon(t, dsn)
	d.start()
	cluster.Set(t, "synchronous_standby_names", "nobody")
	const cause = "no synchronous standby confirms what is written"
	status, body, err := d.post("/v1/main/shuffles", d.token("dealer.token"), "k-1",
		map[string]any{"table": "t", "deck": "standard-52"})
	if err != nil || status != http.StatusServiceUnavailable || !strings.Contains(strings.ToLower(string(body)), cause) {
		t.Errorf("a commit that no standby confirms: %d, %v: %s", status, err, body)
	}
	d.waitFor(d.url+"/readyz", func(r *http.Response) bool {
		var answer struct {
			Ledgers []struct{ Commit struct{ Reason string } }
		}
		if err := json.NewDecoder(r.Body).Decode(&answer); err != nil || len(answer.Ledgers) != 1 {
			t.Fatalf("readiness: %v, %+v", err, answer)
		}
		return answer.Ledgers[0].Commit.Reason == cause
	})
	u, _ := url.Parse(dsn)
	if strings.Contains(string(body), u.Host) || !strings.Contains(d.logged(), cause) {
		t.Errorf("the answer %s, the log:\n%s", body, d.logged())
	}
	cluster.Set(t, "synchronous_standby_names", "")
	d.waitFor(d.url+"/readyz", func(r *http.Response) bool { return r.StatusCode == http.StatusOK })
	var shuffle struct{ ID json.Number }
	d.mustPost("/v1/main/shuffles", "k-1", map[string]any{"table": "t", "deck": "standard-52"}, &shuffle)
	if fmt.Sprint(shuffle.ID) == "" {
		t.Error("the repeat has no answer")
	}
	d.stop()
}
