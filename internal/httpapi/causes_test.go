package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"shuffled/internal/config"
	"shuffled/internal/ledger"
	"shuffled/internal/stops"
)

// refusingStore answers everything that is written, and every look at the head, with an error that has a cause.
type refusingStore struct {
	ledger.Store
	refuses atomic.Bool
	full    atomic.Bool // of a batch it is never known whether it was written
	silent  atomic.Bool // it does not say what other daemons wrote
}

func (s *refusingStore) CheckpointAfter(ctx context.Context, id ledger.ID, after uint64) (ledger.Head, error) {
	if s.silent.Load() {
		return ledger.Head{}, context.DeadlineExceeded
	}
	return s.Store.CheckpointAfter(ctx, id, after)
}

func (s *refusingStore) err() error {
	if !s.refuses.Load() {
		return nil
	}
	return stops.With(errors.New("password of role shuffled_writer at 10.0.0.7"), stops.Refused)
}

func (s *refusingStore) Head(ctx context.Context, id ledger.ID) (ledger.Head, error) {
	if err := s.err(); err != nil {
		return ledger.Head{}, err
	}
	return s.Store.Head(ctx, id)
}

func (s *refusingStore) Append(ctx context.Context, id ledger.ID, old ledger.Head, b ledger.Batch) error {
	if err := s.err(); err != nil {
		return err
	}
	if s.full.Load() {
		return stops.With(ledger.ErrUnknownOutcome, stops.DiskFull)
	}
	return s.Store.Append(ctx, id, old, b)
}

func (s *refusingStore) PutAccess(ctx context.Context, id ledger.ID, a ledger.Access) error {
	if err := s.err(); err != nil {
		return err
	}
	return s.Store.PutAccess(ctx, id, a)
}

// TestEveryRefusalSaysTheCause: while the store refuses, each 503 of each route says the cause, to each role, at once
// and when no memory is believed any more; and /readyz says what cannot be done, and the cure.
func TestEveryRefusalSaysTheCause(t *testing.T) {
	t.Parallel()
	store := new(refusingStore)
	s := newStack(t, stackOptions{byClock: true,
		stored: func(of ledger.Store) ledger.Store { store.Store = of; return store }})
	shuffle := read[Shuffle](t, s.post("/v1/main/shuffles", "k", `{"table":"a","deck":"standard-52"}`))
	if r := read[Readiness](t, operator(t, s, "/readyz")).Ledgers[0]; !r.Read.Ok || !r.Commit.Ok || !r.Deal.Ok {
		t.Errorf("before: %+v", r)
	}
	store.refuses.Store(true)
	s.post("/v1/main/shuffles", "k2", `{"table":"b","deck":"standard-52"}`).want(t, CodeUnavailable, "")
	path := strings.NewReplacer("{ledger}", "main", "{id}", fmt.Sprint(shuffle.ID), "{index}", "0", "{hash}",
		strings.Repeat("A", 43), "{tile...}", "0/000")
	bodies := map[string]string{"/deal": `{"first":0,"runs":[{"count":1,"purpose":"board","public":true}]}`,
		"/close": `{"outcome":"completed"}`, "/shuffles": `{"table":"a","deck":"standard-52"}`,
		"/batch":  `{"operations":[{"op":"shuffle","key":"x","body":{"table":"c","deck":"standard-52"}}]}`,
		"/tables": `{"action":"close","table":"a"}`, "/switches": `{"action":"set","scope":"ledger","reason":"x"}`}
	seen := 0
	for _, old := range []bool{false, true} {
		for _, rt := range routes(nil) {
			if !rt.ofLedger() || strings.HasSuffix(rt.path, "/events") {
				continue
			}
			body := "{}"
			for end, b := range bodies {
				if strings.HasSuffix(rt.path, end) {
					body = b
				}
			}
			for _, token := range []string{s.dealerToken, s.adminToken, s.auditorToken, ""} {
				a := ask{method: rt.method, path: path.Replace(rt.path), token: token}
				if rt.method != http.MethodGet {
					a.key, a.body = "new", body
				}
				got := s.do(a)
				if got.status != http.StatusServiceUnavailable && !strings.Contains(string(got.body), `"status":503`) {
					continue
				}
				seen++
				if said := string(got.body); !strings.Contains(said, "refuses the role, its password or its rights.") ||
					strings.Contains(said, "10.0.0.7") {
					t.Errorf("%s %s, memory is old: %t: %d %s", a.method, a.path, old, got.status, said)
				}
			}
		}
		s.clock.add(2 * ledger.CredentialLife)
	}
	if seen < 40 {
		t.Errorf("only %d requests were answered 503", seen)
	}
	var now Readiness
	must(t, decodeBytes(operator(t, s, "/readyz").body, &now))
	r := now.Ledgers[0]
	for _, can := range []Ability{r.Read, r.Commit, r.Deal} {
		if can.Ok || value(can.Reason) != string(stops.Refused) || value(can.Cure) != stops.Refused.Cure() {
			t.Errorf("%+v", can)
		}
	}
}

// TestStuckSaysTheCause: while the sequencer resolves a commit on a disk that is full, requests that do not come to it
// in time say so, too.
func TestStuckSaysTheCause(t *testing.T) {
	t.Parallel()
	store := new(refusingStore)
	s := newStack(t, stackOptions{byClock: true,
		limits: config.Limits{Patience: config.Duration(100 * time.Millisecond),
			RequestTimeout: config.Duration(time.Second)},
		stored: func(of ledger.Store) ledger.Store { store.Store = of; return store }})
	store.full.Store(true)
	s.post("/v1/main/shuffles", "k", `{"table":"a","deck":"standard-52"}`).want(t, CodeOutcomeUnknown, "")
	s.clock.add(2 * ledger.CredentialLife)
	for range 3 {
		got := s.post("/v1/main/shuffles", "k", `{"table":"a","deck":"standard-52"}`)
		if got.want(t, CodeOverloaded, ""); !strings.Contains(string(got.body), "The disk of the database is full.") {
			t.Errorf("%s", got.body)
		}
	}
	store.full.Store(false) // the sequencer goes on
}
