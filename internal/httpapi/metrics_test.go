package httpapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"shuffled/internal/config"
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
