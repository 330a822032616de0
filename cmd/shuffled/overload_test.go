package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var (
	overload = flag.Duration("overload", 3*time.Second,
		"how long the overload test loads the daemon beyond its capacity")
	cancels     = flag.Int("cancels", 2000, "how many requests the cancel test gives up")
	connections = flag.Int("connections", 1000, "on how many connections the overload test sends")
	tightLimits = flag.Bool("tight", true,
		"run the overload test with few places, so that it refuses; else with the limits by default")
)

// maxMemory is what the daemon may take, whatever comes.
const maxMemory = 256 << 20

// TestOverload finds out what the daemon can do and then asks for twice as much.
// It must go on doing what it can, tell the others to come back, and stay healthy.
func TestOverload(t *testing.T) {
	if testing.Short() {
		t.Skip("loads the machine")
	}
	limits := ""
	if *tightLimits {
		limits = "concurrency = 1024\nwaiting = 128\n"
	}
	l := newLoaded(t, limits+"verify_rate = 0.0\n")
	transcript := l.transcript()
	idle := l.cpu()
	calibration := max(2*time.Second, *overload/3)
	peak := l.capacity(256, calibration)
	if peak < 50 {
		t.Fatalf("void: %.0f commits per second", peak)
	}
	stop := l.watch(transcript)
	cpu := l.cpu()
	t.Logf("at peak %v of processor for %.0f commits", (cpu - idle).Round(time.Millisecond), peak*calibration.Seconds())
	start := time.Now()
	got := l.openLoop(2*peak, *overload, *connections)
	elapsed := time.Since(start).Seconds()
	stop()
	cpu = l.cpu() - cpu
	goodput := float64(len(got.given)) / elapsed
	now, most := l.rss()
	t.Logf("peak %.0f/s; asked for %.0f/s: %.0f/s done (%.0f %% of peak; p50 %v, p99 %v), %d refused (p50 %v, p99 %v), %d not sent; memory %d MiB, at most %d MiB; %v of processor",
		peak, 2*peak, goodput, 100*goodput/peak, quantile(got.done, .5), quantile(got.done, .99),
		len(got.refused), quantile(got.refused, .5), quantile(got.refused, .99), got.unsent, now>>20, most>>20, cpu)
	if len(got.given) < int(peak*overload.Seconds()/10) {
		t.Errorf("%d done, where %.0f/s can be", len(got.given), peak)
	}
	if *tightLimits && len(got.refused) == 0 {
		t.Error("void: nobody was refused")
	}
	if most > maxMemory {
		t.Errorf("%d MiB of memory", most>>20)
	}
	l.checkCommits("overload", got.given)
	l.stop()
}

// outcomes are what became of requests.
type outcomes struct {
	given         map[string][]byte // answers by key
	done, refused []time.Duration
	unsent        int // for lack of a connection on which nothing was under way
}

// openLoop sends commits at a rate, whatever comes back, over so many connections.
func (l *loaded) openLoop(rate float64, d time.Duration, conns int) outcomes {
	l.t.Helper()
	got := outcomes{given: make(map[string][]byte)}
	var mu sync.Mutex
	var group sync.WaitGroup
	due := make(chan int)
	for range conns {
		w, err := l.dial()
		if err != nil {
			l.t.Fatal(err)
		}
		defer w.conn.Close()
		group.Go(func() {
			for n := range due {
				key := fmt.Sprintf("o-%d", n)
				r := w.commit(l.token, "overload", key)
				mu.Lock()
				switch {
				case r.err == nil && r.status == http.StatusOK:
					got.given[key], got.done = r.body, append(got.done, r.took)
				case r.refused():
					got.refused = append(got.refused, r.took)
				default:
					l.t.Errorf("neither done nor told to come back: %d %v: %s", r.status, r.err, r.body)
				}
				mu.Unlock()
				if r.err != nil {
					return
				}
			}
		})
	}
	start := time.Now()
	for n := 0; time.Since(start) < d; n++ {
		time.Sleep(time.Until(start.Add(time.Duration(float64(n) / rate * float64(time.Second))))) // the load is the experiment
		select {
		case due <- n:
		default:
			got.unsent++
		}
	}
	close(due)
	group.Wait()
	return got
}

// transcriptOf returns where the transcript is of the shuffle that an answer tells of.
func (l *loaded) transcriptOf(answer []byte) string {
	l.t.Helper()
	var s struct{ ID uint64 }
	if err := json.Unmarshal(answer, &s); err != nil || s.ID == 0 {
		l.t.Fatalf("no shuffle in %s: %v", answer, err)
	}
	return fmt.Sprintf("%s/v1/main/shuffles/%d/transcript", l.url, s.ID)
}

func quantile(times []time.Duration, q float64) time.Duration {
	if len(times) == 0 {
		return 0
	}
	slices.Sort(times)
	return times[int(q*float64(len(times)-1))].Round(time.Millisecond)
}

// transcript plays a hand and returns its evidence.
func (l *loaded) transcript() []byte {
	l.t.Helper()
	r := l.ask(l.t.Context(), http.MethodGet, l.transcriptOf(l.insist("evidence", "e-1")), "", nil)
	if r.status != http.StatusOK {
		l.t.Fatalf("the transcript: %d, %v", r.status, r.err)
	}
	return r.body
}

// capacity returns the commits per second that so many clients get, one request each at a time.
func (l *loaded) capacity(clients int, d time.Duration) float64 {
	l.t.Helper()
	var done atomic.Int64
	var group sync.WaitGroup
	start := time.Now()
	for c := range clients {
		w, err := l.dial()
		if err != nil {
			l.t.Fatal(err)
		}
		defer w.conn.Close()
		group.Go(func() {
			for n := 0; time.Since(start) < d; n++ {
				if r := w.commit(l.token, fmt.Sprint("c-", c),
					fmt.Sprintf("c-%d-%d", c, n)); r.status == http.StatusOK {
					done.Add(1)
				}
			}
		})
	}
	group.Wait()
	return float64(done.Load()) / time.Since(start).Seconds()
}

// alive looks whether what must answer under any load does: health, metrics and verification.
func (l *loaded) alive(transcript []byte) {
	l.t.Helper()
	for _, path := range []string{"/healthz", "/metrics"} {
		l.mustGet(l.operator, path, http.StatusOK)
	}
	if r := l.ask(l.t.Context(), http.MethodPost, l.url+"/v1/verify", "", transcript); r.status != http.StatusOK ||
		!strings.Contains(string(r.body), "recorded") {
		l.t.Errorf("verification under load: %d %v %.200s", r.status, r.err, r.body)
	}
}

// watch looks again and again, at readiness as well, until it is told to stop.
func (l *loaded) watch(transcript []byte) (stop func()) {
	var group sync.WaitGroup
	done := make(chan struct{})
	group.Go(func() {
		for {
			l.alive(transcript)
			l.mustGet(l.operator, "/readyz", http.StatusOK)
			select {
			case <-done:
				return
			case <-time.After(50 * time.Millisecond): // a monitor's pace
			}
		}
	})
	return func() { close(done); group.Wait() }
}

// TestCancelStorm gives up requests at random moments. It must leave nothing behind: no transaction, no goroutine, and
// no entry that is not acknowledged to anyone who asks again under its key.
func TestCancelStorm(t *testing.T) {
	if testing.Short() {
		t.Skip("loads the machine")
	}
	l := newLoaded(t, "")
	transcript := l.transcriptOf(l.insist("storm", "s-first"))
	const clients = 128
	base := l.figure("go_goroutines")
	given := map[string][]byte{"s-first": nil}
	var mu sync.Mutex
	var next, cut atomic.Int64
	var group sync.WaitGroup
	for range clients {
		group.Go(func() {
			for n := next.Add(1); n <= int64(*cancels); n = next.Add(1) {
				key := fmt.Sprintf("s-%d", n)
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rand.Int64N(int64(50*time.Millisecond))))
				r := l.commit(ctx, "storm", key)
				if n%4 == 0 { // reads are given up, too
					l.ask(ctx, http.MethodGet, transcript, "", nil)
				}
				cancel()
				mu.Lock()
				switch {
				case r.err != nil:
					cut.Add(1)
					given[key] = nil
				case r.status == http.StatusOK:
					given[key] = r.body
				case r.refused():
					given[key] = nil
				default:
					t.Errorf("%s: %d: %s", key, r.status, r.body)
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	if cut.Load() < int64(*cancels/20) {
		t.Errorf("void: %d of %d were given up", cut.Load(), *cancels)
	}
	l.client.CloseIdleConnections()
	db := l.connect()
	l.until(func() string {
		var n int
		err := db.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'shuffled' AND state <> 'idle'").Scan(&n)
		if err != nil {
			t.Fatal(err)
		}
		if n > 0 {
			return fmt.Sprintf("%d transactions are left", n)
		}
		return ""
	})
	l.until(func() string {
		// Recall and the pools have goroutines that come and go.
		if n := l.figure("go_goroutines"); n > base+16 || l.figure("shuffled_http_requests_in_flight") > 0 {
			return fmt.Sprintf("%.0f goroutines, and %.0f before", n, base)
		}
		return ""
	})
	var sessions int
	if err := db.QueryRow(t.Context(), "SELECT coalesce(sum(sessions), 0) FROM pg_stat_database WHERE datname = current_database()").Scan(&sessions); err != nil {
		t.Fatal(err)
	}
	l.checkCommits("storm", given)
	now, most := l.rss()
	t.Logf("%d requests, %d given up, %d connections to the database, memory %d MiB, at most %d MiB", *cancels,
		cut.Load(), sessions, now>>20, most>>20)
	if most > maxMemory {
		t.Errorf("%d MiB of memory", most>>20)
	}
	l.stop()
}

// until waits until nothing is wrong any more.
func (l *loaded) until(wrong func() string) {
	l.t.Helper()
	deadline := time.Now().Add(60 * time.Second)
	for what := wrong(); what != ""; what = wrong() {
		if time.Now().After(deadline) {
			l.t.Fatal(what)
		}
		time.Sleep(20 * time.Millisecond) // until it is so; no test of time
	}
}

// TestHeldHead holds the row that every commit must lock, and keeps 2,000 slow
// callers on the line: commits are told to come back, and everything else goes on.
func TestHeldHead(t *testing.T) {
	if testing.Short() {
		t.Skip("loads the machine")
	}
	l := newLoaded(t, "verify_rate = 0.0\n")
	transcript := l.transcript()
	for i := range 2000 {
		conn, err := net.Dial("tcp", l.addr)
		if err != nil {
			t.Fatalf("slow caller %d: %v", i, err)
		}
		defer conn.Close()
		io.WriteString(conn, "POST /v1/main/shuffles HTTP/1.1\r\nHost: x\r\nX-Slow: ")
	}
	for n := range 20 {
		l.insist("slow", fmt.Sprint("slow-", n))
	}
	l.alive(transcript)
	db := l.connect()
	tx, err := db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "SELECT 1 FROM heads FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	first := make(chan reply, 1)
	go func() { first <- l.commit(t.Context(), "held", "h-first") }()
	l.until(func() string {
		var n int
		if err := db.QueryRow(context.Background(),
			"SELECT count(*) FROM pg_locks WHERE NOT granted").Scan(&n); err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			return "no commit waits for the head"
		}
		return ""
	})
	given := map[string][]byte{"h-first": nil}
	const crowd = 300
	replies := make(chan reply, crowd)
	for n := range crowd {
		key := fmt.Sprint("h-", n)
		given[key] = nil
		go func() { replies <- l.commit(t.Context(), "held", key) }()
	}
	var slowest time.Duration
	for range crowd {
		r := <-replies
		if !r.refused() {
			t.Errorf("a commit that cannot get in: %d %v: %s", r.status, r.err, r.body)
		}
		slowest = max(slowest, r.took)
	}
	l.alive(transcript)
	l.until(func() string {
		if status, _ := fetch(t, l.operator+"/readyz"); status == http.StatusOK {
			return "readiness does not say that nothing is written"
		}
		return ""
	})
	// What memory knows of credentials is believed for ledger.CredentialLife. Then nobody
	// gets in, and is told so in the proper form.
	l.until(func() string {
		switch r := l.ask(t.Context(), http.MethodGet, l.url+"/log/main/checkpoint", "", nil); {
		case r.refused():
			return ""
		case r.status != http.StatusOK:
			t.Fatalf("a token that nobody can look up: %d %v: %s", r.status, r.err, r.body)
		}
		return "credentials are believed, though nothing is read"
	})
	l.alive(transcript)
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r := <-first; r.status != http.StatusOK && !r.refused() {
		t.Errorf("the commit that was being written: %d %v: %s", r.status, r.err, r.body)
	}
	l.until(func() string {
		if status, _ := fetch(t, l.operator+"/readyz"); status != http.StatusOK {
			return "it does not recover"
		}
		return ""
	})
	l.checkCommits("held", given)
	_, most := l.rss()
	t.Logf("%d commits refused while the head was held, the slowest after %v; memory at most %d MiB", crowd,
		slowest.Round(time.Millisecond), most>>20)
	if most > maxMemory {
		t.Errorf("%d MiB of memory", most>>20)
	}
	l.stop()
}
