package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/mod/sumdb/note"
)

// config is of a load on a server in the same bubble, whose time is the bubble's.
func config(answer func(w io.Writer, request string) bool) Config {
	return Config{
		URL: "http://daemon", Ledger: "main", Token: "tok_x.y", Keys: []note.Verifier{nil},
		Connections: 1, Duration: time.Second, Mix: Mix{Commit: 1}, Batch: 1, Deck: "standard-52", Tables: "t", Keep: 1 << 20, Timeout: time.Minute,
		until: waitTimer,
		dial: func(context.Context) (net.Conn, error) {
			client, server := net.Pipe()
			go answerAll(server, answer)
			return client, nil
		},
	}
}

// loaded runs a load up to verification.
func loaded(t *testing.T, ctx context.Context, cfg Config) (*Report, error) {
	t.Helper()
	r, err := newRun(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.load(ctx); err != nil {
		return nil, err
	}
	return r.report(0), nil
}

func respond(w io.Writer, status int, header, body string) {
	fmt.Fprintf(w, "HTTP/1.1 %d X\r\n%sContent-Length: %d\r\n\r\n%s", status, header, len(body), body)
}

// TestRateKeepsDueTimes stalls one request for 200 ms where one is due every 10:
// all that were due meanwhile count from when they were due.
func TestRateKeepsDueTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		cfg := config(func(w io.Writer, _ string) bool {
			if n++; n == 11 { // the first of what is measured
				time.Sleep(200 * time.Millisecond)
			}
			time.Sleep(time.Millisecond)
			respond(w, 200, "", `{"id":2}`)
			return true
		})
		cfg.Rate, cfg.Warmup = 100, 100*time.Millisecond
		r, err := loaded(t, t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		// Due at 0, 10, 20, …; the first is answered at 201 ms, the second at 202, so
		// after 192, and so on down to one that is not held up: 23 of 100 in all.
		l := r.LatencyMS["commit"]
		if l.Count != 100 || l.Max != 201 || r.PerSecond != 100 || r.Acknowledged != 110 || r.Unsent != 0 {
			t.Errorf("%+v", r)
		}
		if near := func(got, want float64) bool { return got > want*0.99 && got < want*1.01 }; !near(l.P50, 1) || !near(l.P90, 201-9*9-9) || !near(l.P99, 192) {
			t.Errorf("%+v", l)
		}
		if r.LateMS.Count != 100 || r.LateMS.Max != 191 {
			t.Errorf("sent late: %+v", r.LateMS)
		}
	})
}

// TestRateTooHigh is due twice as often as one connection answers.
func TestRateTooHigh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := config(func(w io.Writer, _ string) bool {
			time.Sleep(20 * time.Millisecond)
			respond(w, 200, "", `{"id":2}`)
			return true
		})
		cfg.Rate = 100
		r, err := loaded(t, t.Context(), cfg)
		// At the end half were sent, and one waits in the hand of the pacer.
		if err != nil || r.Acknowledged+r.Unsent != 100 || r.Unsent < 48 || r.Unsent > 50 || r.LatencyMS["commit"].Max < 490 {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

// TestClosedLoop sends the next request when the last is answered.
func TestClosedLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := config(func(w io.Writer, _ string) bool {
			time.Sleep(4 * time.Millisecond)
			respond(w, 200, "", `{"id":2}`)
			return true
		})
		cfg.Connections = 3
		lines := 0
		cfg.Progress = func(p Progress) {
			if lines++; p.P50.Round(100*time.Microsecond) != 4*time.Millisecond || p.Rate < 700 || p.Warming != (lines == 1) {
				t.Errorf("%+v", p)
			}
		}
		cfg.Warmup, cfg.Duration = 1100*time.Millisecond, 2*time.Second
		r, err := loaded(t, t.Context(), cfg)
		if l := r.LatencyMS["commit"]; err != nil || r.PerSecond != 750 || r.Shuffles != 750 || l.P50 < 3.98 || l.P50 > 4.02 || lines != 3 {
			t.Errorf("%+v, %v, %d lines", r, err, lines)
		}
	})
}

// TestRepeats sends the same bytes again after the pause that was asked for, or
// when a connection broke, and counts from the beginning.
func TestRepeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex // between connections
		var requests []string
		count := func(request string) int {
			mu.Lock()
			defer mu.Unlock()
			requests = append(requests, request)
			return len(requests)
		}
		cfg := config(func(w io.Writer, request string) bool {
			switch count(request) {
			case 1:
				respond(w, 503, "Retry-After: 1\r\n", `{"code":"overloaded"}`)
			case 2:
				return false
			case 3:
				respond(w, 429, "Retry-After: 2\r\n", `not a problem document`)
			case 4:
				respond(w, 200, "", `{"id":2}`)
			default: // says nothing until the end
				time.Sleep(time.Hour)
				return false
			}
			return true
		})
		cfg.Duration = 10 * time.Second
		r, err := loaded(t, t.Context(), cfg)
		mu.Lock()
		defer mu.Unlock()
		if err != nil || len(requests) != 5 || requests[0] != requests[1] || requests[0] != requests[2] || requests[0] != requests[3] || requests[0] == requests[4] {
			t.Fatalf("%+v, %v: %q", r, err, requests)
		}
		if !strings.HasPrefix(requests[0], "POST /v1/main/shuffles HTTP/1.1\r\nHost: daemon\r\nAuthorization: Bearer tok_x.y\r\n") ||
			!strings.HasSuffix(requests[0], "\r\n\r\n"+`{"table":"t-1","deck":"standard-52"}`) {
			t.Errorf("the request is %q", requests[0])
		}
		if r.Refused["overloaded"] != 1 || r.Refused["http_429"] != 1 || r.Errors != 2 || r.GivenUp != 1 || r.Acknowledged != 1 || r.Requests != 5 {
			t.Errorf("%+v", r)
		}
		if l := r.LatencyMS["commit"]; l.Count != 1 || l.Max < 3000 || l.Max > 3100 {
			t.Errorf("%+v", l)
		}
		time.Sleep(time.Hour) // the server
	})
}

// TestRefused ends a load that no other request would fare better in, and goes on
// after what concerns one shuffle or is over.
func TestRefused(t *testing.T) {
	for status, stops := range map[int]bool{400: true, 401: true, 403: true, 404: true, 409: false, 429: false, 500: false, 503: false} {
		synctest.Test(t, func(t *testing.T) {
			cfg := config(func(w io.Writer, _ string) bool {
				time.Sleep(100 * time.Millisecond)
				respond(w, status, "", `{"code":"no","title":"No","field":"deck","detail":"not this"}`)
				return true
			})
			r, err := loaded(t, t.Context(), cfg)
			var refusal *Refusal
			if errors.As(err, &refusal) != stops || stops && err.Error() != fmt.Sprintf("the daemon refuses: %d no: deck: No: not this", status) {
				t.Errorf("%d: %+v, %v", status, r, err)
			}
			if !stops && r.Refused["no"] != 10 {
				t.Errorf("%d: %+v", status, r)
			}
		})
	}
}

// TestStopped is told to stop, in the middle of a pause.
func TestStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), 3*time.Second)
		defer stop()
		n := 0
		cfg := config(func(w io.Writer, _ string) bool {
			if n++; n <= 10 {
				time.Sleep(100 * time.Millisecond)
				respond(w, 200, "", `{"id":2}`)
			} else {
				respond(w, 503, "Retry-After: 1000\r\n", `{"code":"overloaded"}`)
			}
			return true
		})
		cfg.Duration = time.Hour
		began := time.Now()
		r, err := loaded(t, ctx, cfg)
		if err != nil || time.Since(began) != 3*time.Second || r.Seconds != 3 || r.Acknowledged != 10 || r.GivenUp != 1 {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

// TestMixOfRequests plays what the mix says: deals in order of the commits, closes
// the oldest.
func TestMixOfRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var paths []string
		id := 0
		cfg := config(func(w io.Writer, request string) bool {
			time.Sleep(100 * time.Millisecond)
			_, path, _ := strings.Cut(request, "POST /v1")
			path, _, _ = strings.Cut(path, " ")
			paths = append(paths, path)
			if strings.HasSuffix(path, "/shuffles") {
				id += 10
				respond(w, 200, "", fmt.Sprintf(`{"table":"id","id":%d,"receipt":"r"}`, id))
			} else {
				respond(w, 200, "", `{"verdict":"proved","receipt":"r"}`)
			}
			return true
		})
		cfg.Mix = Mix{Commit: 1, Deal: 2, Close: 1, Verify: 1}
		if _, err := loaded(t, t.Context(), cfg); err != nil {
			t.Fatal(err)
		}
		// The first deal finds nothing open, and is a commit.
		want := "/main/shuffles /main/shuffles /main/shuffles/10/close /verify /main/shuffles/20/deal " +
			"/main/shuffles/20/deal /main/shuffles /main/shuffles/20/close /verify /main/shuffles/30/deal"
		if got := strings.Join(paths, " "); got != want {
			t.Errorf("%s", got)
		}
	})
}

// TestDealtOut deals from one shuffle until it has no cards left, then from the
// next; a close takes the first away, whatever it has left.
func TestDealtOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		deals := make(map[string]int)
		id := 0
		cfg := config(func(w io.Writer, request string) bool {
			time.Sleep(time.Millisecond)
			line, body, _ := strings.Cut(request, "\r\n")
			path := strings.TrimPrefix(strings.Fields(line)[1], "/v1/main/shuffles")
			switch what := path[strings.LastIndex(path, "/")+1:]; what {
			case "":
				id++
				respond(w, 200, "", fmt.Sprintf(`{"id":%d}`, id))
				return true
			case "deal":
				if want := fmt.Sprintf(`{"first":%d,"runs":[{"count":2,"purpose":"seat","recipient":"seat-1"}]}`, 2*deals[path]); !strings.HasSuffix(body, want) {
					t.Errorf("%s: %s", path, body)
				}
				deals[path]++
			}
			respond(w, 200, "", "{}")
			return true
		})
		cfg.Mix = Mix{Commit: 1, Deal: 20, Close: 1}
		if _, err := loaded(t, t.Context(), cfg); err != nil {
			t.Fatal(err)
		}
		// Of 1,000 requests no shuffle but the last few was left with cards, and none
		// had more than there are.
		left := 0
		for _, n := range deals {
			if left += 10 - n; n > 10 {
				t.Errorf("%d deals of two cards", n)
			}
		}
		if len(deals) < 80 || left > 20 {
			t.Errorf("%d shuffles, %d deals not made", len(deals), left)
		}
	})
}

// TestConfig names the member and the rule.
func TestConfig(t *testing.T) {
	good := func() Config { return config(nil) }
	for field, change := range map[string]func(*Config){
		"url":         func(c *Config) { c.URL = "ftp://daemon" },
		"connections": func(c *Config) { c.Connections = 0 },
		"rate":        func(c *Config) { c.Rate = -1 },
		"duration":    func(c *Config) { c.Duration = time.Millisecond },
		"warm-up":     func(c *Config) { c.Warmup = -1 },
		"batch":       func(c *Config) { c.Batch = 257 },
		"mix":         func(c *Config) { c.Mix = Mix{} },
		"keep":        func(c *Config) { c.Keep = 0 },
		"timeout":     func(c *Config) { c.Timeout = 0 },
		"ledger":      func(c *Config) { c.Ledger = "a b" },
		"tables":      func(c *Config) { c.Tables = "a/b" },
		"deck":        func(c *Config) { c.Deck = `"` },
		"key":         func(c *Config) { c.Keys = nil },
	} {
		cfg := good()
		change(&cfg)
		_, err := Run(t.Context(), cfg)
		var f *FieldError
		if !errors.As(err, &f) || f.Field != field || f.Rule == "" {
			t.Errorf("%s: %v", field, err)
		}
	}
	cfg := good()
	if err := cfg.Check(); err != nil {
		t.Error(err)
	}
}

// TestKept thins evenly.
func TestKept(t *testing.T) {
	k := kept{budget: 10 * (claimSize + 10)}
	for i := range 100 {
		k.add(claim{first: i + 1, answer: make([]byte, 10)})
	}
	if len(k.claims) < 5 || len(k.claims) > 10 || k.bytes > k.budget || k.seen != 100 {
		t.Fatalf("%d of %d, %d bytes", len(k.claims), k.seen, k.bytes)
	}
	for i, c := range k.claims {
		if c.first != (i+1)*k.claims[0].first {
			t.Errorf("claim %d is the %dth", i, c.first)
		}
	}
}
