package httpapi

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"shuffled/internal/audit"
	"shuffled/internal/config"
	"shuffled/internal/ledger"
)

// following is an open stream of events.
type following struct {
	t     *testing.T
	lines *bufio.Scanner
	leave func()
	place string // the newest id
}

// follow opens a stream and reads its first comment.
func (s *stack) follow(t *testing.T, token, query, lastID string) *following {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	req := ask{method: http.MethodGet, path: "/v1/main/events" + query, token: token}.request(t, s.url).WithContext(ctx)
	if lastID != "" {
		req.Header.Set("Last-Event-ID", lastID)
	}
	resp, err := http.DefaultTransport.(*http.Transport).Clone().RoundTrip(req)
	must(t, err)
	leave := func() { cancel(); resp.Body.Close() }
	t.Cleanup(leave)
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
		body, _ := io.ReadAll(resp.Body)
		t.Fatalf("%d %v: %s", resp.StatusCode, resp.Header, body)
	}
	f := &following{t: t, lines: bufio.NewScanner(resp.Body), leave: leave}
	if data, ok := f.block(); !ok || data != "" || f.place == "" {
		t.Fatalf("the first block is %q, %t", data, ok)
	}
	return f
}

// block reads up to an empty line and returns the data; ok is false at the end.
func (f *following) block() (data string, ok bool) {
	for f.lines.Scan() {
		switch field, value, _ := strings.Cut(f.lines.Text(), ": "); field {
		case "":
			return data, true
		case "id":
			f.place = value
		case "data":
			data = value
		}
	}
	return "", false
}

// next returns the next event, whatever heartbeats come before it.
func (f *following) next() Event {
	f.t.Helper()
	for {
		data, ok := f.block()
		if !ok {
			f.t.Fatalf("the stream ended at %s: %v", f.place, f.lines.Err())
		}
		if data == "" {
			continue
		}
		var plain any
		if err := json.Unmarshal([]byte(data), &plain); err != nil {
			f.t.Fatal(err)
		}
		if err := loadContract(f.t).Components.Schemas["Event"].Value.VisitJSON(plain,
			openapi3.EnableJSONSchema2020()); err != nil {
			f.t.Errorf("%s: %v", data, err)
		}
		var e Event
		if err := decodeBytes([]byte(data), &e); err != nil {
			f.t.Fatal(err)
		}
		if e.Index != nil && f.place != fmt.Sprint(*e.Index) {
			f.t.Errorf("the id of %s is %s", data, f.place)
		}
		return e
	}
}

// want reads events until all of these came: type, table and index of each, in order.
func (f *following) want(all ...string) {
	f.t.Helper()
	for _, want := range all {
		e := f.next()
		got := fmt.Sprint(e.Type, " ", value(e.Table), " ", value(e.Index))
		if got != want {
			f.t.Fatalf("got %q, want %q of %q", got, want, all)
		}
	}
}

// play has everything happen that an entry tells of, and returns what a stream for these tables says of it.
func (s *stack) play() (told func(tables ...string) []string) {
	s.t.Helper()
	var all [][2]string
	note := func(what, table string) {
		index := s.ledger.Live().Size - 1
		all = append(all, [2]string{table, fmt.Sprint(what, " ", table, " ", index)})
	}
	for _, table := range []string{"a", "c"} {
		_, path := s.commit(table, table+fmt.Sprint(s.ledger.Live().Size))
		note("committed", table)
		s.post(path+"/deal", "", twoHands).want(s.t, "", "")
		note("dealt", table)
		s.do(ask{method: "POST", path: path + "/takeover", token: s.otherToken, body: `{"reason":"a test"}`})
		note("takeover", table)
		s.do(ask{method: "POST", path: path + "/close", token: s.otherToken,
			body: `{"outcome":"void","reason":"misdeal"}`})
		note("closed", table)
		s.admin("/v1/main/switches", fmt.Sprintf(`{"scope":"table","table":%q,"reason":"a test"}`, table))
		note("kill", table)
		s.act(&audit.Event{Kind: audit.EventKillClear, Scope: audit.ScopeTable, Name: table, Reason: "a test"})
		note("kill", table)
	}
	s.admin("/v1/main/switches", `{"scope":"ledger","reason":"a test"}`)
	note("kill", "")
	s.act(&audit.Event{Kind: audit.EventKillClear, Scope: audit.ScopeLedger, Reason: "a test"})
	note("kill", "")
	return func(tables ...string) (some []string) {
		for _, one := range all {
			if tables == nil || one[0] == "" || slices.Contains(tables, one[0]) {
				some = append(some, one[1])
			}
		}
		return some
	}
}

// TestEvents follows what happens, leaves in the middle and comes back in three ways.
func TestEvents(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	f := s.follow(t, s.auditorToken, "", "")
	before := f.place
	told := s.play()
	f.want(told()...)
	f.leave()
	all := told()
	for _, again := range []*following{
		s.follow(t, s.dealerToken, "?after="+before, ""), s.follow(t, s.regulatorToken, "", before),
		s.follow(t, s.adminToken, "?after=0", before),
	} {
		again.want(all[:5]...)
		place := again.place
		again.leave()
		s.follow(t, s.auditorToken, "", place).want(all[5:]...)
	}
	// Of before anybody followed, and across what the feed keeps.
	if e := s.follow(t, s.auditorToken, "?after=0", "").next(); value(e.Table) != "a" || e.Type != "committed" {
		t.Errorf("%+v", e)
	}
	s.get("/v1/main/events?after=100000", s.auditorToken).want(t, CodeInvalidValue, "after")
	s.get("/v1/main/events", "").want(t, CodeUnauthorized, "")
}

// TestEventsOfSlowStore: a follower that comes back while the store does not say whether another daemon wrote its entry
// is told to come again, and not that there is no such entry: it would not come again.
func TestEventsOfSlowStore(t *testing.T) {
	t.Parallel()
	store := new(refusingStore)
	s := newStack(t, stackOptions{stored: func(of ledger.Store) ledger.Store { store.Store = of; return store }})
	path := fmt.Sprint("/v1/main/events?after=", s.size)
	store.silent.Store(true)
	got := s.get(path, s.auditorToken)
	if got.want(t, CodeUnavailable, ""); got.header.Get("Retry-After") == "" {
		t.Errorf("%d %v", got.status, got.header)
	}
	store.silent.Store(false)
	s.get(path, s.auditorToken).want(t, CodeInvalidValue, "after")
}

// TestEventsAreFor: a token for some tables is told of these and of what is of none.
func TestEventsAreFor(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	f := s.follow(t, s.tableToken, "", "")
	told := s.play()
	f.want(told("a", "b")...)
	s.follow(t, s.tableToken, "?after=0", "").want(told("a", "b")...)
}

// TestClosingSoon tells of what closes within a minute: what was open before, and what is committed so.
func TestClosingSoon(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	by := func(in time.Duration) string {
		return s.clock.Now().Add(in).UTC().Format("2006-01-02T15:04:05.000Z")
	}
	commit := func(table string, in time.Duration) string {
		t.Helper()
		shuffle := read[Shuffle](t, s.post("/v1/main/shuffles", table,
			fmt.Sprintf(`{"table":%q,"deck":"short-36","close_by":%q}`, table, by(in))))
		return fmt.Sprint("committed ", table, " ", shuffle.ID)
	}
	commit("a", 40*time.Second)
	commit("b", time.Hour)
	f := s.follow(t, s.auditorToken, "", "")
	f.want("closing_soon a 0")
	f.want(commit("c", 50*time.Second), "closing_soon c 0")
	f.want(commit("d", time.Hour))
	s.follow(t, s.tableToken, "", "").want("closing_soon a 0")
}

// TestEventsEnd: a stream ends with its credential, and when the daemon stops.
func TestEventsEnd(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	f, other := s.follow(t, s.dealerToken, "", ""), s.follow(t, s.auditorToken, "", "")
	body := fmt.Sprintf(`{"action":"revoke","credential":%q,"reason":"a test"}`, s.dealerID)
	s.do(ask{method: "POST", path: "/v1/main/credentials", token: s.adminToken, body: body}).want(t, "", "")
	s.do(ask{method: "POST", path: "/v1/main/tables", token: s.adminToken, body: `{"action":"open","table":"x"}`}).
		want(t, "", "")
	for {
		data, ok := f.block()
		if data != "" {
			t.Errorf("a revoked token was told %s", data)
		}
		if !ok {
			break
		}
	}
	other.want(fmt.Sprint("table x ", s.ledger.Live().Size-1))
	s.api.Drain()
	for ok := true; ok; {
		_, ok = other.block()
	}
	s.get("/v1/main/events", s.auditorToken).want(t, CodeNotReady, "")
}

// TestStrangerSendsNothing: who has no credential is told so before its body has come, and keeps no connection.
func TestStrangerSendsNothing(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	must(t, err)
	defer conn.Close()
	fmt.Fprint(conn, "POST /v1/main/shuffles HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"+
		"Idempotency-Key: k\r\nContent-Length: 1000\r\n\r\n{")
	conn.SetReadDeadline(time.Now().Add(20 * time.Second)) // the body would have 30
	answer, err := io.ReadAll(conn)
	if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 401 ") {
		t.Errorf("%v: %s", err, answer)
	}
}

// TestSlowFollower: one that does not read is cut off, and its place is free again; a deal notices nothing.
func TestSlowFollower(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{limits: config.Limits{Followers: 2,
		WriteTimeout: config.Duration(200 * time.Millisecond)}})
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	must(t, err)
	defer conn.Close()
	conn.(*net.TCPConn).SetReadBuffer(1)
	fmt.Fprintf(conn, "GET /v1/main/events?after=0 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n",
		s.auditorToken)
	for s.api.followers.inside(2) == 0 {
		time.Sleep(time.Millisecond) // the request arrives
	}
	s.get("/v1/main/events", s.auditorToken).want(t, CodeOverloaded, "") // of one token half
	var entries []audit.Body
	for range 500 {
		entries = append(entries, &audit.Event{Kind: audit.EventKillSet, Scope: audit.ScopeTable, Name: "x",
			Reason: "a test"}, &audit.Event{Kind: audit.EventKillClear, Scope: audit.ScopeTable, Name: "x",
			Reason: "a test"})
	}
	for n := 0; s.api.followers.inside(2) > 0; n++ {
		_, err := s.ledger.Append(t.Context(), ledger.Proposal{Actor: audit.Operator, Bodies: entries})
		if err != nil || n == 200 {
			t.Fatalf("%d events were sent to one that reads nothing, %v", n*len(entries), err)
		}
	}
}
