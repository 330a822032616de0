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

// config is the config of a load on a server in the same bubble, whose time is the
// bubble's.
func config(answer func(w io.Writer, request string) bool) Config {
	return Config{
		URL: "http://daemon", Ledger: "main", Token: "tok_x.y", Keys: []note.Verifier{nil},
		Connections: 1, Duration: time.Second, Mix: Mix{Commit: 1}, Batch: 1, Deck: "standard-52", Tables: "t",
		Keep: 1 << 20, Timeout: time.Minute,
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

// TestRateKeepsDueTimes stalls one request for 200 ms while one is due every 10: all
// that were due in that time count from when they were due.
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
		if near := func(got, want float64) bool { return got > want*0.99 && got < want*1.01 }; !near(l.P50, 1) ||
			!near(l.P90, 201-9*9-9) || !near(l.P99, 192) {
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
		// At the end half were sent, and the pacer holds one.
		if err != nil || r.Acknowledged+r.Unsent != 100 || r.Unsent < 48 || r.Unsent > 50 ||
			r.LatencyMS["commit"].Max < 490 {
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
			if lines++; p.P50.Round(100*time.Microsecond) != 4*time.Millisecond || p.Rate < 700 ||
				p.Warming != (lines == 1) {
				t.Errorf("%+v", p)
			}
		}
		cfg.Warmup, cfg.Duration = 1100*time.Millisecond, 2*time.Second
		r, err := loaded(t, t.Context(), cfg)
		if l := r.LatencyMS["commit"]; err != nil || r.PerSecond != 750 || r.Shuffles != 750 || l.P50 < 3.98 ||
			l.P50 > 4.02 || lines != 3 {
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
		if err != nil || len(requests) != 5 || requests[0] != requests[1] || requests[0] != requests[2] ||
			requests[0] != requests[3] || requests[0] == requests[4] {
			t.Fatalf("%+v, %v: %q", r, err, requests)
		}
		if !strings.HasPrefix(requests[0],
			"POST /v1/main/shuffles HTTP/1.1\r\nHost: daemon\r\nAuthorization: Bearer tok_x.y\r\n") ||
			!strings.HasSuffix(requests[0], "\r\n\r\n"+`{"table":"t-1","deck":"standard-52"}`) {
			t.Errorf("the request is %q", requests[0])
		}
		if r.Refused["overloaded"] != 1 || r.Refused["http_429"] != 1 || r.Errors != 2 || r.GivenUp != 1 ||
			r.Acknowledged != 1 || r.Requests != 5 {
			t.Errorf("%+v", r)
		}
		if l := r.LatencyMS["commit"]; l.Count != 1 || l.Max < 3000 || l.Max > 3100 {
			t.Errorf("%+v", l)
		}
		time.Sleep(time.Hour) // the server
	})
}

// TestRefused ends a load after a refusal that every request would get, and goes on
// after one that concerns one shuffle or has passed.
func TestRefused(t *testing.T) {
	for status, stops := range map[int]bool{400: true, 401: true, 403: true, 404: true, 409: false, 429: false,
		500: false, 503: false} {
		synctest.Test(t, func(t *testing.T) {
			cfg := config(func(w io.Writer, _ string) bool {
				time.Sleep(100 * time.Millisecond)
				respond(w, status, "", `{"code":"no","title":"No","field":"deck","detail":"not this"}`)
				return true
			})
			r, err := loaded(t, t.Context(), cfg)
			var refusal *Refusal
			if errors.As(err, &refusal) != stops || stops &&
				err.Error() != fmt.Sprintf("the daemon refuses: %d no: deck: No: not this", status) {
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
		if err != nil || time.Since(began) != 3*time.Second || r.Seconds != 3 || r.Acknowledged != 10 ||
			r.GivenUp != 1 {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

// TestMixOfRequests plays the mix: deals in order of the commits, and closes the
// oldest.
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

// TestDealtOut deals from one shuffle until it has no cards left, then from the next;
// a close removes the first, with any cards left.
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
				if want := fmt.Sprintf(`{"first":%d,"runs":[{"count":2,"purpose":"seat","recipient":"seat-1"}]}`,
					2*deals[path]); !strings.HasSuffix(body, want) {
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
		"batch":       func(c *Config) { c.Batch = 129 },
		"mix":         func(c *Config) { c.Mix = Mix{} },
		"spread":      func(c *Config) { c.Spread, c.Mix = 2, Mix{Commit: 1, Close: 1} },
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

// TestKept thins evenly, by commits: each stays with its deals, and one stays at any
// size.
func TestKept(t *testing.T) {
	const size = claimSize + 10
	for name, c := range map[string]struct {
		budget int64
		deals  int // of each commit
		after  int // commits that come before they are dealt
	}{
		"commits":        {10 * size, 0, 0},
		"hands":          {40 * size, 5, 0},
		"later":          {40 * size, 3, 7},
		"no room at all": {1, 5, 0},
	} {
		k := kept{budget: c.budget}
		add := func(kind Kind, group uint64) {
			k.add(claim{kind: kind, group: group, answer: make([]byte, 10)})
		}
		for i := range uint64(100) {
			add(Commit, 0)
			for d := range c.deals {
				if at := i + 1 - uint64(c.after); int(i) >= c.after {
					add(Deal+Kind(d/4), at)
				}
			}
		}
		groups := make(map[uint64]int)
		for _, claim := range k.claims {
			if groups[claim.group]++; claim.kind != Commit && groups[claim.group] == 1 {
				t.Errorf("%s: group %d without its commit", name, claim.group)
			}
		}
		each := 1 + c.deals
		if k.seen != uint64(100+(100-c.after)*c.deals) || k.bytes != int64(len(k.claims))*size {
			t.Errorf("%s: %d seen, %d bytes", name, k.seen, k.bytes)
		}
		if len(groups) == 0 || len(groups) > 1 && k.bytes > k.budget || c.budget > 1 && k.bytes < k.budget/3 {
			t.Errorf("%s: %d groups in %d bytes of %d", name, len(groups), k.bytes, k.budget)
		}
		for g, n := range groups {
			if g%k.stride != 0 || n != each && g <= uint64(100-c.after) {
				t.Errorf("%s: group %d has %d of %d claims, at every %dth", name, g, n, each, k.stride)
			}
		}
		if len(groups) != 100/int(k.stride) {
			t.Errorf("%s: %d groups, each %dth of 100", name, len(groups), k.stride)
		}
	}
}

// TestGroups keeps deals and closes with the commit of their shuffle.
func TestGroups(t *testing.T) {
	for _, mix := range []Mix{{Hand: 1}, {Commit: 1, Deal: 4, Close: 1}, {Commit: 1, Deal: 2, Hand: 1}} {
		synctest.Test(t, func(t *testing.T) {
			id := 0
			cfg := config(func(w io.Writer, request string) bool {
				time.Sleep(10 * time.Millisecond)
				id++
				respond(w, 200, "", fmt.Sprintf(`{"id":%d}`, 10*id))
				return true
			})
			cfg.Mix = mix
			r, err := newRun(cfg)
			if err == nil {
				err = r.load(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
			ids, others := make(map[uint64]uint64), 0
			for _, c := range r.workers[0].kept.claims {
				if c.kind == Commit {
					ids[c.group] = firstID(c.answer)
				} else if others++; ids[c.group] == 0 || c.shuffle != ids[c.group] {
					t.Errorf("%v: a %v of shuffle %d in the group of %d", mix, c.kind, c.shuffle, ids[c.group])
				}
			}
			if others < 40 {
				t.Errorf("%v: %d", mix, others)
			}
		})
	}
}

// TestUnusable distinguishes a run that measured nothing from one that was refused on
// purpose.
func TestUnusable(t *testing.T) {
	for name, c := range map[string]struct {
		served int // of each 10 requests, from the first
		warmup time.Duration
		rate   float64
		says   string
	}{
		"all served":       {10, 0, 0, ""},
		"one half":         {5, 0, 0, ""},
		"fewer":            {4, 0, 0, "60 requests were refused and 0 failed, and 40 were acknowledged: busy"},
		"fewer, at a rate": {1, 0, 100, ""},
		"none":             {0, 0, 0, "nothing was acknowledged: busy"},
		"none, at a rate":  {0, 0, 100, "nothing was acknowledged: busy"},
		"only in the warm-up": {-40, 500 * time.Millisecond, 0,
			"nothing was acknowledged within the measured time: busy"},
		"broken connections": {-10, 0, 0,
			"0 requests were refused and 12 failed, and 10 were acknowledged: reading the answer: EOF"},
	} {
		synctest.Test(t, func(t *testing.T) {
			n := 0
			cfg := config(func(w io.Writer, _ string) bool {
				n++
				time.Sleep(10 * time.Millisecond)
				switch {
				case c.served < 0 && n <= -c.served, (n-1)%10 < c.served:
					respond(w, 200, "", `{"id":2}`)
				case name == "broken connections":
					return false
				default:
					respond(w, 500, "", `{"code":"busy"}`)
				}
				return true
			})
			cfg.Warmup, cfg.Rate = c.warmup, c.rate
			r, err := loaded(t, t.Context(), cfg)
			if err != nil || r.Unusable != c.says {
				t.Errorf("%s: %q, want %q; %+v, %v", name, r.Unusable, c.says, r, err)
			}
		})
	}
}
