package httpapi

import (
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/config"
	"shuffled/internal/witness/witnesstest"
)

// TestWitnessWait: deals that wait for witnesses keep nobody from work, however
// many of them there are, and are not more than their limit.
func TestWitnessWait(t *testing.T) {
	t.Parallel()
	var w *witnesstest.Witness
	s := newStack(t, stackOptions{limits: config.Limits{Concurrency: 2, Waiting: 1, Witnessed: 10},
		genesis: func(g *audit.Genesis) {
			vkey, err := audit.VKey(g.Origin, g.SigningKey)
			must(t, err)
			w = witnesstest.Start(t, vkey)
			g.Deals, g.Policy = audit.DealsCosigned, []byte(w.PolicyLine+"\nquorum "+w.Name+"\n")
		}})
	w.Down(true)
	const most = 5 // half of ten
	var paths []string
	for _, key := range []string{"0", "1", "2", "3", "4", "5"} {
		_, path := s.commit("t"+key, key)
		paths = append(paths, path)
	}
	deal := func(path string) answer {
		return s.do(ask{method: http.MethodPost, path: path + "/deal", token: s.dealerToken, body: twoHands})
	}
	done := make(chan answer, most)
	for i, path := range paths[:most] {
		go func() { done <- deal(path) }()
		for s.api.witnessed.inside(10) <= i { // one after the other: there are few places on the way
			runtime.Gosched()
		}
	}
	s.commit("t", "waiting")
	deal("/v1/main/shuffles/999").want(t, CodeNotFound, "")
	if got := deal(paths[most]); got.header.Get("Retry-After") == "" {
		t.Errorf("%v", got.header)
	} else {
		got.want(t, CodeOverloaded, "")
	}
	if !strings.Contains(string(operator(t, s, "/metrics").body),
		`shuffled_http_refused_total{ledger="main",reason="witnesses"} 1`) {
		t.Error("the refusal is not counted")
	}
	// Their places are few: who gets one after the other has it for a moment.
	s.api.cfg.Limits.Patience = config.Duration(time.Minute)
	s.api.working.most = most
	w.Down(false)
	for range most {
		if got := <-done; got.status != http.StatusOK {
			t.Errorf("%d: %s", got.status, got.body)
		}
	}
	if free := s.api.witnessed.free; free != 10 || s.api.working.free != 2 {
		t.Errorf("%d and %d places are free", free, s.api.working.free)
	}
}

// stuck is a caller who does not read: its answer is not written before it does.
type stuck struct {
	http.ResponseWriter
	writing chan<- struct{}
	reads   <-chan struct{}
}

func (s stuck) Write(b []byte) (int, error) {
	s.writing <- struct{}{}
	<-s.reads
	return s.ResponseWriter.Write(b)
}

// TestStrangersDoNotRead: strangers who take every place that they can get, and do
// not read their answers, keep nobody who is known from work.
func TestStrangersDoNotRead(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{limits: config.Limits{Concurrency: 4}})
	writing, reads := make(chan struct{}), make(chan struct{})
	var strangers sync.WaitGroup
	for range 2 {
		strangers.Go(func() {
			w := httptest.NewRecorder()
			s.api.ServeHTTP(stuck{w, writing, reads}, httptest.NewRequest(http.MethodGet, "/log/main/checkpoint", nil))
			if w.Code != http.StatusOK {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
		<-writing
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if s.api.working.enter(over, queueKey{s.ledger.ID(), true}, time.Now()) {
		t.Error("strangers have another place")
	}
	s.commit("t", "k")
	close(reads)
	strangers.Wait()
	if free := s.api.working.free; free != 4 {
		t.Errorf("%d places are free", free)
	}
}
