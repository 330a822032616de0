package httpapi

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"shuffled/internal/config"
	"shuffled/internal/ledger"
)

// TestMetricsNameNobody: what a caller can choose is in no figure: neither in a
// label's value nor in its name, whatever comes of the request.
func TestMetricsNameNobody(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{limits: config.Limits{TokenRate: 1, TokenBurst: 40}})
	planted := map[string]string{}
	plant := func(what string) string {
		planted[what] = "planted-" + strings.ReplaceAll(what, " ", "-")
		return planted[what]
	}
	body := func(member string) string {
		return fmt.Sprintf(`{"table":%q,"game_ref":%q,%s}`, plant("table"), plant("game reference"), member)
	}
	created := read[Shuffle](t, s.post("/v1/main/shuffles", plant("key"), body(`"deck":"short-36"`)))
	path := fmt.Sprintf("/v1/main/shuffles/%d", created.ID)
	s.post("/v1/main/draws", plant("key of draws"), body(`"ranges":[6,6]`))
	s.post("/v1/main/shuffles", plant("key of cards"), body(fmt.Sprintf(`"cards":[%q,"b"]`, plant("card"))))
	deal := fmt.Sprintf(`{"first":0,"runs":[{"count":2,"purpose":"seat","recipient":%q}]}`, plant("recipient"))
	s.post(path+"/deal", "", deal)
	s.post(path+"/deal", "", deal)
	s.post(path+"/deal", "", `{"first":9,"runs":[{"count":2,"purpose":"seat","recipient":"seat-1"}]}`)
	s.get(path+"/transcript?recipient="+planted["recipient"], s.dealerToken)
	s.get(path+"/transcript?recipient="+plant("another recipient"), s.dealerToken)
	s.get("/v1/main/shuffles?game_ref="+planted["game reference"], s.dealerToken)
	s.get("/v1/main/shuffles?table="+planted["table"], s.dealerToken)
	s.get("/v1/"+plant("ledger")+"/keys", "")
	s.get("/v1/main/"+plant("route"), "")
	s.get("/v1/main/keys", plant("token"))
	s.do(ask{method: http.MethodGet, path: "/v1/main/keys", header: http.Header{
		"User-Agent": {plant("agent")}, "Host": {plant("host")},
		"X-Forwarded-For": {plant("address")}, "Request-Id": {plant("request")}}})
	s.post(path+"/close", "", `{"outcome":"ended_early"}`)
	for range 50 { // until it is turned away
		s.post("/v1/main/shuffles", plant("late key"), body(`"deck":"short-36"`))
	}
	figures := string(operator(t, s, "/metrics").body)
	for what, text := range planted {
		if strings.Contains(figures, text) {
			t.Errorf("the %s is in the metrics", what)
		}
	}
	if strings.Contains(figures, "planted") ||
		!strings.Contains(figures, `reason="token_rate"`) || !strings.Contains(figures, `status="409"`) {
		t.Errorf("void, or something planted is in the metrics:\n%s", figures)
	}
}

// TestTraceOf: the example of the standard is read, and what has another form is nothing.
func TestTraceOf(t *testing.T) {
	const id, span = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	for text, want := range map[string]trace{
		"00-" + id + "-" + span + "-01":              {id: id, span: span},
		"cc-" + id + "-" + span + "-01-what-will-be": {id: id, span: span},
		"00-" + id + "-" + span + "-01-more":         {}, "ff-" + id + "-" + span + "-01": {}, "": {}, "00": {},
		"00-" + id + "-" + span: {}, "00-" + id + "-0000000000000000-01": {},
		"00-00000000000000000000000000000000-" + span + "-01": {}, "00-" + id[1:] + "-" + span + "-01": {},
		"00-4BF92F3577B34DA6A3CE929D0E0E4736-" + span + "-01": {}, "00-" + id + "-" + span + "-01\n": {},
	} {
		if got := traceOf(&http.Request{Header: http.Header{"Traceparent": {text}}}); got != want {
			t.Errorf("%q: %+v", text, got)
		}
	}
	both := "00-" + id + "-" + span + "-01"
	if got := traceOf(&http.Request{Header: http.Header{"Traceparent": {both, both}}}); got != (trace{}) {
		t.Errorf("two headers: %+v", got)
	}
	for text, want := range map[string]string{"hand-4711.2_a": "hand-4711.2_a", "a b": "", "é": "", "x-tok_a.b": "",
		"0123456789012345678901234567890123456789012345678901234567890123":  "0123456789012345678901234567890123456789012345678901234567890123",
		"01234567890123456789012345678901234567890123456789012345678901234": ""} {
		if got := traceOf(&http.Request{Header: http.Header{"X-Request-Id": {text}}}).caller; got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// testClock is a clock that a test moves.
type testClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *testClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *testClock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// opened has a ledger go by the clock alone, and look at its store when it is asked.
func (c *testClock) opened(cfg *ledger.Config) {
	start := c.Now()
	cfg.Probe = time.Hour
	cfg.Clock = func() (time.Time, time.Duration) {
		now := c.Now()
		return now, now.Sub(start)
	}
}
