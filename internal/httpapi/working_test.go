package httpapi

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/config"
	"shuffled/internal/ledger"
)

// unwitnessed is a ledger whose witnesses have cosigned nothing, until they have.
type unwitnessed struct {
	Dealer
	Log
	genesis  audit.Genesis
	arrived  chan struct{} // one for each who waits
	cosigned chan struct{}
}

func (u *unwitnessed) Genesis() *audit.Genesis { return &u.genesis }

func (u *unwitnessed) AwaitWitnesses(ctx context.Context, _ uint64) error {
	u.arrived <- struct{}{}
	select {
	case <-u.cosigned:
		return nil
	case <-ctx.Done():
		return ledger.ErrNotWitnessed
	}
}

// TestWitnessWait: deals that wait for witnesses keep nobody from work, however
// many of them there are, and are not more than their limit.
func TestWitnessWait(t *testing.T) {
	t.Parallel()
	u := &unwitnessed{arrived: make(chan struct{}), cosigned: make(chan struct{})}
	s := newStack(t, stackOptions{limits: config.Limits{Concurrency: 2, Waiting: 1, Witnessed: 10},
		wrap: func(l Ledger) Ledger {
			u.Dealer, u.Log, u.genesis = l.Dealer, l.Log, *l.Log.Genesis()
			u.genesis.Deals = audit.DealsCosigned
			l.Dealer, l.Log = u, u
			return l
		}})
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
	for _, path := range paths[:most] {
		go func() { done <- deal(path) }()
		<-u.arrived // one after the other: there are few places on the way
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
	close(u.cosigned)
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
