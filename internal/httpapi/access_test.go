package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/config"
	"shuffled/internal/dealer/api"
	"shuffled/internal/ledger"
)

// brokenAccess loses records when it is told to.
type brokenAccess struct {
	Access
	err  error
	slow string        // credential of which none is written
	ends chan struct{} // until then
}

func (b *brokenAccess) PutAccess(ctx context.Context, id ledger.ID, a ledger.Access) error {
	if a.Token == b.slow {
		<-b.ends
	}
	if b.err != nil {
		return b.err
	}
	return b.Access.PutAccess(ctx, id, a)
}

// TestAccessRecords wants everything a regulator or an administrator asks for on
// record, also what was refused, and nothing of others.
func TestAccessRecords(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{limits: config.Limits{TokenRate: 1, TokenBurst: 100}})
	_, path := s.commit("t", "k")
	id, regulator := s.putToken(audit.RoleRegulator, nil)
	want := []string{}
	asks := []struct {
		ask    ask
		status int
	}{
		{ask{method: "GET", path: path + "/transcript"}, 200},
		{ask{method: "HEAD", path: path}, 200},
		{ask{method: "GET", path: "/v1/main/shuffles?table=t&state=open"}, 200},
		{ask{method: "GET", path: "/v1/main/shuffles/999"}, 404},
		{ask{method: "GET", path: "/v1/main/shuffles?nonsense=1"}, 400},
		{ask{method: "GET", path: path + "/transcript?recipient=seat-1"}, 403},
		{ask{method: "POST", path: "/v1/main/switches", body: `{"scope":"ledger","reason":"r"}`}, 403},
		{ask{method: "GET", path: "/log/main/checkpoint"}, 200},
	}
	for _, a := range asks {
		a.ask.token = regulator
		if got := s.do(a.ask); got.status != a.status {
			t.Errorf("%s %s: %d", a.ask.method, a.ask.path, got.status)
		}
		want = append(want, a.ask.method+" "+a.ask.path)
		s.clock.add(time.Millisecond)
	}
	for _, token := range []string{"", s.dealerToken, s.auditorToken, s.adminToken, s.wrong} {
		s.get(path, token)
	}
	list := read[AccessList](t, s.get("/v1/main/access", s.adminToken))
	byRegulator := len(want)
	want = append(want, "GET "+path, "GET /v1/main/access") // the administrator's
	if len(list.Records) != len(want) || list.Next != nil {
		t.Fatalf("%d records: %+v", len(list.Records), list)
	}
	requests := map[string]bool{}
	for i, r := range list.Records {
		if r.Method+" "+r.Path != want[i] || (r.Token == id) != (i < byRegulator) || requests[r.Request] {
			t.Errorf("record %d: %+v, not of %s", i, r, want[i])
		}
		requests[r.Request] = true
	}

	// The regulator sees the same, and that the regulator looked.
	own := read[AccessList](t, s.get("/v1/main/access", regulator))
	if n := len(own.Records); n != len(want)+1 || own.Records[n-1].Path != "/v1/main/access" {
		t.Errorf("%d records for the regulator", n)
	}
	s.get("/v1/main/access", s.auditorToken).want(t, CodeForbidden, "")
	s.get("/v1/main/access", s.dealerToken).want(t, CodeForbidden, "")
}

// TestAccessRateLimited: requests that are too many get no answer, and write no records.
func TestAccessRateLimited(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{limits: config.Limits{TokenRate: 1, TokenBurst: 1}})
	s.get("/v1/main/keys", s.regulatorToken)
	for range 3 {
		s.get("/v1/main/keys", s.regulatorToken).want(t, CodeRateLimited, "")
	}
	if list := read[AccessList](t, s.get("/v1/main/access", s.adminToken)); len(list.Records) != 2 {
		t.Errorf("%d records", len(list.Records))
	}
}

// TestFloodOfRecords: a regulator with many requests under way, each of which is to be recorded, takes the ledger
// neither from the house nor from an administrator with a kill switch.
func TestFloodOfRecords(t *testing.T) {
	t.Parallel()
	const places, requests = 32, 24 // half of the places are the ledger's
	slow := &brokenAccess{ends: make(chan struct{})}
	s := newStack(t, stackOptions{limits: config.Limits{Concurrency: places, Patience: config.Duration(time.Minute)},
		wrap: func(l Ledger) Ledger { slow.Access, l.Access = l.Access, slow; return l }})
	slow.slow = idOf(s.regulatorToken)
	answers := make(chan answer, requests)
	for range requests {
		go func() { answers <- s.get("/v1/main/keys", s.regulatorToken) }()
	}
	known := queueKey{s.ledger.ID(), false}
	for s.api.working.inside(places)+s.api.working.waiting(known)+len(answers) < requests {
		time.Sleep(time.Millisecond) // until all have come as far as they come; no test of time
	}
	s.post("/v1/main/shuffles", "k", `{"table":"t","deck":"standard-52"}`).want(t, "", "")
	s.admin("/v1/main/switches", `{"scope":"table","table":"t","reason":"a test"}`).want(t, "", "")
	close(slow.ends)
	recorded := 0
	for range requests {
		if got := <-answers; got.status == http.StatusOK {
			recorded++
		} else {
			got.want(t, CodeOverloaded, "")
		}
	}
	if recorded == 0 {
		t.Error("the regulator has no place")
	}
}

// TestAccessUnrecorded: no record, no answer, and nothing of it in the problem.
func TestAccessUnrecorded(t *testing.T) {
	t.Parallel()
	broken := &brokenAccess{err: errors.New("PLANTED: disk full")}
	s := newStack(t, stackOptions{wrap: func(l Ledger) Ledger {
		broken.Access = l.Access
		l.Access = broken
		return l
	}})
	_, path := s.commit("t", "k")
	for _, p := range []string{path, path + "/transcript", "/v1/main/keys", "/log/main/checkpoint", "/v1/main/access",
		"/v1/main/shuffles"} {
		got := s.get(p, s.regulatorToken)
		if got.want(t, CodeUnavailable, ""); got.header.Get("Retry-After") == "" ||
			strings.Contains(string(got.body), "PLANTED") {
			t.Errorf("%s: %v %s", p, got.header, got.body)
		}
		s.get(p, s.adminToken).want(t, CodeUnavailable, "")
		if got := s.get(p, s.auditorToken); got.status == 503 {
			t.Errorf("%s as auditor: %d", p, got.status)
		}
	}
	if !strings.Contains(s.log.String(), "recording an access: PLANTED") {
		t.Error("the cause is not in the log")
	}
	broken.err = ledger.ErrExists
	s.get(path, s.regulatorToken).want(t, CodeUnavailable, "")
	broken.err = nil
	if got := s.get(path, s.regulatorToken); got.status != 200 {
		t.Errorf("afterwards: %d", got.status)
	}
}

func TestAccessPages(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	start := s.clock.Now().UnixMilli()
	const n = 23
	for i := range n {
		s.get(fmt.Sprintf("/v1/main/shuffles/%d", 100+i), s.regulatorToken)
		if i%3 == 0 {
			s.clock.add(time.Millisecond) // some have the same time
		}
	}
	at := func(ms int64) string {
		text, err := Timestamp(ms).MarshalText()
		must(t, err)
		return string(text)
	}
	s.clock.add(time.Second)
	to := "to=" + at(s.clock.Now().UnixMilli()) // what is asked from here on is on record too
	for _, limit := range []int{1, 2, 7, 22, 23, 24, 500} {
		seen, cursor, pages := map[string]bool{}, "", 0
		for {
			page := read[AccessList](t, s.get(fmt.Sprintf("/v1/main/access?%s&limit=%d%s", to, limit, cursor),
				s.adminToken))
			for _, r := range page.Records {
				if seen[r.Path] {
					t.Errorf("%s came twice", r.Path)
				}
				seen[r.Path] = true
			}
			if pages++; page.Next == nil {
				break
			}
			if len(page.Records) != limit {
				t.Errorf("a page of %d, not %d", len(page.Records), limit)
			}
			cursor = "&cursor=" + *page.Next
		}
		if len(seen) != n || pages != (n+limit-1)/limit {
			t.Errorf("limit %d: %d records on %d pages", limit, len(seen), pages)
		}
	}
	for query, want := range map[string]int{
		"?from=" + at(start+1) + "&" + to: 22, "?to=" + at(start+1): 1, "?from=" + at(start+1) + "&to=" +
			at(start+3): 6,
		"?from=" + at(start+1000) + "&" + to: 0, "?to=1970-01-01T00:00:00Z": 0, "?" + to: n,
	} {
		if got := read[AccessList](t, s.get("/v1/main/access"+query, s.adminToken)); len(got.Records) != want {
			t.Errorf("%s: %d records, not %d", query, len(got.Records), want)
		}
	}
	for query, field := range map[string]string{
		"?limit=0": "limit", "?limit=501": "limit", "?cursor=x": "cursor", "?cursor=12": "cursor",
		"?cursor=12-":     "cursor",
		"?from=yesterday": "from", "?table=t": "table",
	} {
		s.get("/v1/main/access"+query, s.adminToken).want(t, CodeInvalidValue, field)
	}
}

func TestRecordedPath(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"/v1/main/keys":                       "/v1/main/keys",
		"/v1/main/shuffles?table=t&limit=5":   "/v1/main/shuffles?table=t&limit=5",
		"/v1/main/shuffles?token=tok_abc.def": "/v1/main/shuffles?withheld",
		"/v1/main/terms/tok_abc.def":          "/v1/main/terms/withheld",
		"/v1/main/shuffles?tok%5fabc.def":     "/v1/main/shuffles?withheld",
		"/v1/main/shuffles?x=TOK_abc.def":     "/v1/main/shuffles?withheld",
		"/v1/main/shuffles?x=\u00fc\x01\xff" + strings.Repeat("\u00fc", 600): "/v1/main/shuffles?x=???" +
			strings.Repeat("?", 477),
		"/v1/main/shuffles?%zz": "/v1/main/shuffles?withheld",
		"/v1/main/shuffles?x=" + strings.Repeat("y", 600): "/v1/main/shuffles?x=" +
			strings.Repeat("y", 480),
	} {
		path, query, _ := strings.Cut(raw, "?")
		got := recordedPath(&url.URL{Path: path, RawQuery: query})
		if got != want || len(got) > ledger.MaxAccessPath {
			t.Errorf("%.60s becomes %.60s", raw, got)
		}
	}
}

// recallOf answers with what it was given, and keeps what it was asked.
type recallOf struct {
	noRecall
	found []ledger.Recalled
	asked ledger.RecallQuery
	err   error
}

func (r *recallOf) Find(_ context.Context, q ledger.RecallQuery) (p ledger.RecallPage, err error) {
	r.asked = q
	p.Shuffles = r.found[:min(len(r.found), q.Limit)]
	if n := len(p.Shuffles); n < len(r.found) {
		p.Next = p.Shuffles[n-1].ID
	}
	return p, r.err
}

func TestRecall(t *testing.T) {
	t.Parallel()
	recall := new(recallOf)
	s := newStack(t, stackOptions{wrap: func(l Ledger) Ledger { l.Recall = recall; return l }})
	now := s.clock.Now().UnixMilli()
	deck := api.PublishedDecks()[0]
	recall.found = []ledger.Recalled{
		{ID: 2, Table: "a", Serial: 1, Committed: now - 9000, CloseBy: now - 1000, GameRef: "g-1", Closed: now - 5000,
			Outcome: 1, Owner: "dealer-1", Deck: deck.Hash()},
		{ID: 5, Table: "a", Serial: 2, Committed: now - 8000, CloseBy: now, Draw: true, Owner: "o"},
		{ID: 7, Table: "b", Serial: 1, Committed: now - 7000, CloseBy: now + 1, Parent: 5, Owner: "o"},
	}
	list := read[ShuffleList](t, s.get("/v1/main/shuffles", s.auditorToken))
	states := ""
	for _, f := range list.Shuffles {
		states += fmt.Sprintf("%d %s %s; ", f.ID, f.Kind, f.State)
	}
	if states != "2 cards closed; 5 draws overdue; 7 cards open; " || list.Next != nil || recall.asked.Limit != 100 ||
		recall.asked.Tables != nil {
		t.Errorf("%s %+v", states, recall.asked)
	}
	first := list.Shuffles[0]
	if first.Owner != "dealer-1" || value(first.Deck) != deck.Name() || list.Shuffles[1].Deck != nil ||
		value(first.GameRef) != "g-1" || value(first.Outcome) != "completed" || first.Reason != nil ||
		int64(value(first.ClosedAt)) != now-5000 ||
		value(list.Shuffles[2].Parent) != 5 {
		t.Errorf("%+v", list.Shuffles)
	}
	page := read[ShuffleList](t, s.get("/v1/main/shuffles?limit=2", s.regulatorToken))
	if len(page.Shuffles) != 2 || value(page.Next) != "5" {
		t.Errorf("%+v", page)
	}
	s.get("/v1/main/shuffles?cursor=5&table=a&serial=3&game_ref=g&state=closed&from=2026-01-01T00:00:00Z&"+
		"to=2026-01-02T00:00:00.000Z&owner=o&outcome=void&reason=misdeal&deck="+deck.Name(), s.auditorToken)
	want := ledger.RecallQuery{Table: "a", Serial: 3, GameRef: "g", State: "closed", From: 1767225600000,
		To: 1767312000000, After: 5, Limit: 100, Owner: "o", Outcome: audit.OutcomeVoid, Reason: audit.ReasonMisdeal,
		Deck: deck.Hash()}
	if fmt.Sprintf("%+v", recall.asked) != fmt.Sprintf("%+v", want) {
		t.Errorf("asked %+v, not %+v", recall.asked, want)
	}

	// A token for tables finds those of its tables.
	if s.get("/v1/main/shuffles", s.tableToken); fmt.Sprint(recall.asked.Tables) != "[a b]" {
		t.Errorf("asked %+v", recall.asked)
	}
	if got := s.get("/v1/main/shuffles?table=b", s.tableToken); got.status != 200 || recall.asked.Table != "b" {
		t.Errorf("%d, asked %+v", got.status, recall.asked)
	}
	s.get("/v1/main/shuffles?table=z", s.tableToken).want(t, CodeForbidden, "")

	// What the list says of a table is believed of no shuffle.
	of, _ := s.commit("z", "k")
	recall.found = []ledger.Recalled{{ID: of.ID, Table: "a", Serial: 7}}
	s.get("/v1/main/shuffles/@a:7/transcript", s.tableToken).want(t, CodeNotFound, "id")

	for query, field := range map[string]string{
		"state=overdue": "state", "serial=1": "serial", "serial=0&table=a": "serial", "limit=0": "limit",
		"cursor=x":  "cursor",
		"cursor=05": "cursor", "table=a%20b": "table", "from=1": "from", "id=3": "id",
		"outcome=won": "outcome", "reason=boredom": "reason", "deck=tarot": "deck",
	} {
		s.get("/v1/main/shuffles?"+query, s.auditorToken).want(t, CodeInvalidValue, field)
	}
	recall.err = fmt.Errorf("%w: PLANTED", ledger.ErrUnavailable)
	s.get("/v1/main/shuffles", s.auditorToken).want(t, CodeUnavailable, "")
}

// TestTokenInQuery: an address is no place for a token.
func TestTokenInQuery(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{private: true})
	_, path := s.commit("t", "k")
	for _, name := range []string{"token", "access_token", "authorization"} {
		got := s.get(path+"?"+name+"="+s.dealerToken, "")
		if got.want(t, CodeUnauthorized, ""); strings.Contains(string(got.body), s.dealerToken) {
			t.Error("the token is in the answer")
		}
		got = s.get(path+"?"+name+"="+s.dealerToken, s.dealerToken)
		if got.want(t, CodeInvalidValue, name); strings.Contains(string(got.body), s.dealerToken) {
			t.Error("the token is in the answer")
		}
	}
	got := s.get(path+"?"+s.dealerToken, s.dealerToken)
	if got.want(t, CodeInvalidValue, "query"); strings.Contains(string(got.body), s.dealerToken[4:]) {
		t.Error("the token is in the answer")
	}
	header := http.Header{"Cookie": {"token=" + s.dealerToken}, "X-Token": {s.dealerToken}}
	s.do(ask{method: "GET", path: path, header: header}).want(t, CodeUnauthorized, "")
	_, secret, _ := strings.Cut(s.dealerToken, ".")
	if strings.Contains(s.log.String()+string(operator(t, s, "/metrics").body), secret) {
		t.Error("the token is in the log or the metrics")
	}
}
