package httpapi

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/config"
	"shuffled/internal/ledger"
)

// readRows tells who reads entries, and may hold readers.
type readRows struct {
	ledger.Store
	hold chan struct{} // not nil: readers wait for it

	readers, dealers atomic.Int32 // questions that came under ledger.AsReader, and that did not
}

func (r *readRows) Rows(ctx context.Context, id ledger.ID, from, to uint64) iter.Seq2[ledger.Row, error] {
	if !ledger.IsReader(ctx) {
		r.dealers.Add(1)
		return r.Store.Rows(ctx, id, from, to)
	}
	if r.readers.Add(1); r.hold != nil {
		<-r.hold
	}
	return r.Store.Rows(ctx, id, from, to)
}

// reading has the stack read its entries here, and keep none of their bundles.
func (r *readRows) reading(limits config.Limits) stackOptions {
	return stackOptions{limits: limits, stored: func(of ledger.Store) ledger.Store { r.Store = of; return r },
		opening: func(c *ledger.Config) { c.Tiles = ledger.NewTileCache(1) }}
}

const bundlePath = "/log/main/tile/entries/000.p/2"

// from asks for a path without a token, from an address.
func (s *stack) from(address, path string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.RemoteAddr = address + ":1"
	w := httptest.NewRecorder()
	s.api.ServeHTTP(w, r)
	return w
}

// TestReadersShare: with all places of readers taken by strangers, dealers commit, deal, close and read; one address
// leaves places to others; and who comes then is told to come back.
func TestReadersShare(t *testing.T) {
	t.Parallel()
	rows := &readRows{hold: make(chan struct{})}
	s := newStack(t, rows.reading(config.Limits{Readers: 4}))
	var strangers sync.WaitGroup
	for i, address := range []string{"192.0.2.1", "192.0.2.1", "192.0.2.2"} {
		strangers.Go(func() {
			if w := s.from(address, bundlePath); w.Code != http.StatusOK {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
		for s.api.reading.inside(4) <= i {
			runtime.Gosched()
		}
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for address, want := range map[string]bool{"192.0.2.1": false, "192.0.2.2": false, "192.0.2.3": true} {
		if got := s.api.reading.enter(over, prefix(address+":1"), time.Now()); got != want {
			t.Errorf("one more of %s: %t", address, got)
		}
	}
	// All four are taken.
	_, path := s.commit("t", "k")
	read[Deal](t, s.post(path+"/deal", "", twoHands))
	read[ShuffleState](t, s.get(path, s.dealerToken))
	read[Close](t, s.post(path+"/close", "", `{"outcome":"completed"}`))
	if got := s.get(path+"/transcript", s.dealerToken); got.status != http.StatusOK {
		t.Errorf("a dealer's transcript: %d", got.status)
	}
	if got := s.from("192.0.2.9", "/log/main/checkpoint"); got.Code != http.StatusOK {
		t.Errorf("a checkpoint, which is in memory: %d", got.Code)
	}
	s.api.cfg.Limits.Patience = config.Duration(10 * time.Millisecond)
	for _, token := range []string{"", s.auditorToken} {
		s.get("/v1/main/entries/0/receipt", token).want(t, CodeOverloaded, "")
	}
	if !strings.Contains(string(operator(t, s, "/metrics").body),
		`shuffled_http_refused_total{ledger="main",reason="readers"} 2`) {
		t.Error("refusals are not counted")
	}
	s.api.cfg.Limits.Patience = config.Duration(time.Minute)
	s.api.reading.leave(prefix("192.0.2.3:1"))
	close(rows.hold)
	strangers.Wait()
	if free := s.api.reading.free; free != 4 {
		t.Errorf("%d places are free", free)
	}
}

// TestWhoReads: what those read who do not deal, and the log, is asked as a reader's; what a dealer reads is not.
func TestWhoReads(t *testing.T) {
	t.Parallel()
	rows := new(readRows)
	s := newStack(t, rows.reading(config.Limits{}))
	const receipt = "/v1/main/entries/0/receipt"
	for _, c := range []struct {
		path, token string
		reader      bool
	}{
		{bundlePath, "", true}, {receipt, "", true}, {receipt, s.auditorToken, true}, {receipt, s.regulatorToken, true},
		{bundlePath, s.dealerToken, true}, {receipt, s.dealerToken, false}, {receipt, s.adminToken, false},
	} {
		rows.readers.Store(0)
		rows.dealers.Store(0)
		got, readers, dealers := s.get(c.path, c.token), rows.readers.Load(), rows.dealers.Load()
		if got.status != http.StatusOK || readers+dealers != 1 || (readers == 1) != c.reader {
			t.Errorf("%s: %d, %d questions of readers and %d of dealers", c.path, got.status, readers, dealers)
		}
	}
}

// TestReadersDoNotRead: a reader who does not read its answer holds no reader's place, whatever it holds else.
func TestReadersDoNotRead(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{limits: config.Limits{Readers: 1}})
	writing, reads := make(chan struct{}), make(chan struct{})
	var strangers sync.WaitGroup
	for range 3 {
		strangers.Go(func() {
			w := httptest.NewRecorder()
			s.api.ServeHTTP(stuck{w, writing, reads}, httptest.NewRequest(http.MethodGet, bundlePath, nil))
			if w.Code != http.StatusOK {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
		<-writing
	}
	if got := s.get("/v1/main/entries/0/receipt", ""); got.status != http.StatusOK {
		t.Errorf("another reader: %d", got.status)
	}
	close(reads)
	strangers.Wait()
}

// TestReadBytes: what strangers are given is counted in bytes, of each address and
// of all together; who is known is not counted.
func TestReadBytes(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{limits: config.Limits{ReadBytes: 60, ReadBytesAll: 150,
		Patience: config.Duration(20 * time.Millisecond)}})
	size := len(s.from("192.0.2.1", bundlePath).Body.Bytes())
	if size <= 150 || size >= 300 {
		t.Fatalf("a bundle of %d bytes: void", size)
	}
	want := func(address string, status int) {
		t.Helper()
		if w := s.from(address, bundlePath); w.Code != status || status != http.StatusOK &&
			w.Header().Get("Retry-After") == "" {
			t.Errorf("%s: %d %s", address, w.Code, w.Body)
		}
	}
	want("192.0.2.1", http.StatusTooManyRequests)
	if w := s.from("192.0.2.1", "/log/main/checkpoint"); w.Code != http.StatusOK {
		t.Errorf("what is in memory: %d", w.Code)
	}
	want("192.0.2.2", http.StatusOK) // and of all together there is nothing left
	want("192.0.2.3", http.StatusTooManyRequests)
	for name, token := range map[string]string{"dealer": s.dealerToken, "auditor": s.auditorToken} {
		if got := s.get(bundlePath, token); got.status != http.StatusOK {
			t.Errorf("%s: %d", name, got.status)
		}
	}
	if figures := string(operator(t, s, "/metrics").body); !strings.Contains(figures,
		`shuffled_http_refused_total{ledger="main",reason="bytes"} 2`) {
		t.Error("refusals are not counted")
	}
	s.clock.add(time.Minute)
	want("192.0.2.1", http.StatusOK)
}

// TestReadWeight: a long transcript counts as more than one read.
func TestReadWeight(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{limits: config.Limits{ReadRate: 1, ReadBurst: 5}})
	path := s.manyDeals(1200, 1200)
	got := s.from("192.0.2.1", path+"/transcript")
	reads := got.Body.Len() / bytesPerRead
	if got.Code != http.StatusOK || reads < 10 {
		t.Fatalf("%d, %d bytes: void", got.Code, got.Body.Len())
	}
	s.clock.add(time.Duration(reads-5) * time.Second)
	if w := s.from("192.0.2.1", path); w.Code != http.StatusTooManyRequests {
		t.Errorf("it counts as less than %d reads: %d", reads, w.Code)
	}
	s.clock.add(2 * time.Second)
	if w := s.from("192.0.2.1", path); w.Code != http.StatusOK {
		t.Errorf("it counts as more than %d reads: %d", reads, w.Code)
	}
}

// manyDeals commits to a deck of so many cards, and writes as many deals of one card
// each, as a dealer would one after another. It returns the path of the shuffle.
func (s *stack) manyDeals(cards, deals int) (path string) {
	s.t.Helper()
	names := make([]string, cards)
	for i := range names {
		names[i] = fmt.Sprintf(`"c%d"`, i)
	}
	shuffle := read[Shuffle](s.t, s.post("/v1/main/shuffles", "many",
		`{"table":"many","cards":[`+strings.Join(names, ",")+`]}`))
	for first := 0; first < deals; {
		var bodies []audit.Body
		for ; first < deals && len(bodies) < 512; first++ {
			bodies = append(bodies, &audit.Deal{Shuffle: shuffle.ID, First: first,
				Runs: []audit.Run{{Count: 1, Purpose: audit.PurposeSeat, Recipient: fmt.Sprintf("seat-%d", first%9)}}})
		}
		if _, err := s.ledger.Append(s.t.Context(), ledger.Proposal{Actor: s.house(), Bodies: bodies}); err != nil {
			s.t.Fatal(err)
		}
	}
	return fmt.Sprintf("/v1/main/shuffles/%d", shuffle.ID)
}

// TestManyDeals: the transcript of as many deals as a shuffle can have is served under the default limits, to a dealer,
// an auditor and a stranger. The queue deadline is that of the default, and much shorter than the answer takes.
func TestManyDeals(t *testing.T) {
	t.Parallel()
	const most = 4096
	s := newStack(t, stackOptions{limits: config.Limits{Patience: config.Duration(700 * time.Millisecond), ReadRate: 20,
		ReadBurst: 100, ReadBytes: 8 << 20, ReadBytesAll: 32 << 20}})
	path := s.manyDeals(most, most)
	read[Close](s.t, s.post(path+"/close", "", `{"outcome":"completed"}`))
	for name, token := range map[string]string{"dealer": s.dealerToken, "auditor": s.auditorToken, "stranger": ""} {
		began := time.Now()
		got := s.get(path+"/transcript", token)
		t.Logf("%s: %d bytes in %v", name, len(got.body), time.Since(began).Round(time.Millisecond))
		if got.status != http.StatusOK {
			t.Errorf("%s: %d %s", name, got.status, cut(got.body))
			continue
		}
		transcript, err := openings.ParseTranscript(got.body)
		if err != nil || len(transcript.Cards) != most || len(transcript.Receipts) != most+3 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
