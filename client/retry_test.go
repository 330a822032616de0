package client_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"shuffled/client"
)

func readAll(t *testing.T, r *http.Request) string {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Error(err)
	}
	return string(b)
}

func withBody(r *http.Request, body string) *http.Request {
	r = r.Clone(r.Context())
	r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	return r
}

// troubles are what can come between: each ends one attempt after the daemon has, or has not, done its part.
var troubles = map[string]func(w http.ResponseWriter, r *http.Request, h http.Handler){
	"overloaded": func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Retry-After", "0")
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(503)
		io.WriteString(w, `{"type":"x","title":"busy","status":503,"code":"overloaded"}`)
	},
	"rate": func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Retry-After", time.Now().UTC().Format(http.TimeFormat))
		w.WriteHeader(429)
	},
	"gateway": func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		http.Error(w, "<html>bad gateway", http.StatusBadGateway)
	},
	"lost request": func(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) },
	"lost answer": func(_ http.ResponseWriter, r *http.Request, h http.Handler) {
		h.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	},
	"cut answer": func(w http.ResponseWriter, r *http.Request, h http.Handler) {
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		w.Header().Set("Content-Length", rec.Header().Get("Content-Length"))
		w.WriteHeader(rec.Code)
		w.Write(rec.Body.Bytes()[:rec.Body.Len()/2])
		panic(http.ErrAbortHandler)
	},
}

// TestRetries wants one shuffle, one deal and one close, whatever is lost on the
// way, from requests that are the same every time.
func TestRetries(t *testing.T) {
	t.Parallel()
	for name, trouble := range troubles {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDaemon(t)
			var calls atomic.Int64
			var first atomic.Pointer[[]byte]
			c := d.client(func(h http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					body := readAll(t, r)
					same := []byte(r.Method + r.URL.Path + r.Header.Get("Idempotency-Key") + body)
					n := calls.Add(1)
					if n%3 == 1 {
						first.Store(&same)
					} else if !bytes.Equal(*first.Load(), same) {
						t.Errorf("%s, then %s", *first.Load(), same)
					}
					if n%3 != 0 {
						trouble(w, withBody(r, body), h)
						return
					}
					h.ServeHTTP(w, withBody(r, body))
				})
			}, nil)
			s, err := c.Commit(t.Context(), client.NewKey(),
				client.ShuffleRequest{Table: "t", Deck: ptr("standard-52")})
			must(t, err)
			if s.Serial != 1 {
				t.Errorf("serial %d", s.Serial)
			}
			if _, err := c.Deal(t.Context(), s, twoSeats); err != nil {
				t.Error(err)
			}
			if _, err := c.Close(t.Context(), s, client.CloseRequest{Outcome: client.OutcomeCompleted}); err != nil {
				t.Error(err)
			}
			if n := calls.Load(); n != 9 {
				t.Errorf("%d calls", n)
			}
		})
	}
}

// TestNoRetry wants one attempt where another cannot help.
func TestNoRetry(t *testing.T) {
	t.Parallel()
	d := newDaemon(t)
	for name, answer := range map[string]func(w http.ResponseWriter, r *http.Request){
		"conflict": func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(409) },
		"internal": func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(500) },
		"latched":  func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(503) }, // without Retry-After
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		},
		"redirect to wait": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(307)
		},
		"no content": func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(204) },
	} {
		var calls atomic.Int64
		c := d.client(func(http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { calls.Add(1); answer(w, r) })
		}, nil)
		_, err := c.Commit(t.Context(), "k", client.ShuffleRequest{Table: "t", Deck: ptr("short-36")})
		var e *client.Error
		if !errors.As(err, &e) || e.Code != "" || e.Status < 200 || calls.Load() != 1 {
			t.Errorf("%s: %v after %d calls", name, err, calls.Load())
		}
	}
}

func TestGivingUp(t *testing.T) {
	t.Parallel()
	d := newDaemon(t)
	var calls atomic.Int64
	busy := func(after string) func(http.Handler) http.Handler {
		return func(http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				calls.Add(1)
				w.Header().Set("Retry-After", after)
				w.WriteHeader(503)
			})
		}
	}
	_, err := d.client(busy("0"), func(cfg *client.Config) { cfg.Attempts = 5 }).State(t.Context(), 1)
	var e *client.Error
	if !errors.As(err, &e) || e.Status != 503 || calls.Load() != 5 {
		t.Errorf("%v after %d calls", err, calls.Load())
	}
	// The daemon asks for a pause that the caller does not have.
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	calls.Store(0)
	_, err = d.client(busy("3600"), nil).State(ctx, 1)
	if !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &e) || calls.Load() != 1 {
		t.Errorf("%v after %d calls", err, calls.Load())
	}
}

// TestAnswerThatIsNone wants faults for answers that are no answers.
func TestAnswerThatIsNone(t *testing.T) {
	t.Parallel()
	d := newDaemon(t)
	for _, body := range []string{"", "null", "[]", "{}", "<html>", `{"id":1,"id":2}`, "\xff"} {
		c := d.client(func(http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, body) })
		}, nil)
		var f *client.Fault
		if _, err := c.State(t.Context(), 1); !errors.As(err, &f) {
			t.Errorf("state %q: %v", body, err)
		}
		if _, err := c.Receipt(t.Context(), 1); !errors.As(err, &f) {
			t.Errorf("receipt %q: %v", body, err)
		}
		if _, err := c.Transcript(t.Context(), 1, ""); !errors.As(err, &f) {
			t.Errorf("transcript %q: %v", body, err)
		}
	}
}

// TestUnknown tells what may have been done from what was not.
func TestUnknown(t *testing.T) {
	t.Parallel()
	d := newDaemon(t)
	busy, lost := troubles["overloaded"], troubles["lost answer"]
	conflict := func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { w.WriteHeader(409) }
	problem := func(code string) func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(503)
			io.WriteString(w, `{"type":"x","title":"x","status":503,"code":"`+code+`"}`)
		}
	}
	type steps []func(http.ResponseWriter, *http.Request, http.Handler)
	for name, c := range map[string]struct {
		steps steps // the last goes on
		open  bool
	}{
		"never heard":         {steps{busy}, false},
		"refused":             {steps{conflict}, false},
		"lost":                {steps{lost}, true},
		"lost, then busy":     {steps{lost, busy}, true},
		"lost, then refused":  {steps{lost, conflict}, true},
		"busy, then refused":  {steps{busy, conflict}, false},
		"gateway":             {steps{troubles["gateway"]}, true},
		"the daemon's unsure": {steps{problem("outcome_unknown")}, true},
		"latched":             {steps{problem("latch")}, false},
	} {
		calls := 0
		cl := d.client(func(h http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				calls++
				c.steps[min(calls, len(c.steps))-1](w, r, h)
			})
		}, func(cfg *client.Config) { cfg.Attempts = 3 })
		_, err := cl.Commit(t.Context(), client.NewKey(), client.ShuffleRequest{Table: "t", Deck: ptr("short-36")})
		if err == nil || client.Unknown(err) != c.open {
			t.Errorf("%s: %v", name, err)
		}
	}
	stranger := httptest.NewTLSServer(d.api) // whose certificate no authority vouches for
	defer stranger.Close()
	for name, change := range map[string]func(*client.Config){
		"nobody listens": func(cfg *client.Config) { cfg.URL = "http://127.0.0.1:1" },
		"no such host":   func(cfg *client.Config) { cfg.URL = "http://nobody.invalid" },
		"a certificate":  func(cfg *client.Config) { cfg.URL, cfg.HTTP = stranger.URL, nil },
		"a bad token":    func(cfg *client.Config) { cfg.Token = "tok_x.y\r" },
	} {
		gone := d.client(func(h http.Handler) http.Handler { return h }, func(cfg *client.Config) {
			cfg.Attempts = 2
			change(cfg)
		})
		_, err := gone.Commit(t.Context(), client.NewKey(), client.ShuffleRequest{Table: "t", Deck: ptr("short-36")})
		if err == nil || client.Unknown(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if client.Unknown(nil) || client.Unknown(&client.Fault{}) {
		t.Error("nothing, or a fault, is unknown")
	}
}

// TestConnections wants the connections of one call for the next.
func TestConnections(t *testing.T) {
	t.Parallel()
	d := newDaemon(t)
	var opened atomic.Int64
	server := httptest.NewUnstartedServer(d.api)
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			opened.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	c, err := client.New(client.Config{URL: server.URL, Ledger: "main", VKey: d.vkey, Token: d.token})
	must(t, err)
	for range 30 {
		if _, err := c.Commit(t.Context(), client.NewKey(),
			client.ShuffleRequest{Table: "t", Deck: ptr("short-36")}); err != nil {
			t.Fatal(err)
		}
		c.State(t.Context(), 999) // a refusal is read to its end as well
	}
	if n := opened.Load(); n != 1 {
		t.Errorf("%d connections", n)
	}
	c.CloseIdleConnections()
}

// TestAfterDone: the daemon did a command, and refuses what proves its answer. The same call proves it later.
func TestAfterDone(t *testing.T) {
	t.Parallel()
	d, ctx := newDaemon(t), client.FirstTried(t.Context(), time.Now())
	own, deck := d.client(nil, nil), ptr("standard-52")
	var refused atomic.Value
	refused.Store("")
	c := d.client(func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if what := refused.Load().(string); what != "" && strings.Contains(r.URL.Path, what) {
				http.Error(w, "no", http.StatusForbidden)
				return
			}
			h.ServeHTTP(w, r)
		})
	}, nil)
	parent, err := c.Commit(ctx, "parent", client.ShuffleRequest{Table: "p", Deck: deck})
	must(t, err)
	one, err := own.Commit(ctx, "one", client.ShuffleRequest{Table: "one", Deck: ptr("short-36")})
	must(t, err)
	one, err = c.Load(ctx, one.ID) // its names are not known
	must(t, err)
	terms, err := c.PutTerms(ctx, client.TermsDocument{Kind: client.TermsDocumentKindWheel,
		Labels: []client.TermsLabel{{Label: "a", Weight: 1}, {Label: "b", Weight: 1}}})
	must(t, err)
	spin, err := c.Draws(ctx, "spin", client.DrawsRequest{Table: "w", Ranges: []uint32{2}, Terms: terms})
	must(t, err)
	board := client.DealRequest{Runs: []client.Run{{Count: 1, Purpose: client.PurposeBoard, Public: ptr(true)}}}
	child := client.ShuffleRequest{Table: "p"}
	for what, call := range map[string]func() (any, error){
		"receipt":    func() (any, error) { return c.Child(ctx, "c", parent, child) },
		"transcript": func() (any, error) { return c.Batch(ctx, []client.Step{{Of: one, Request: board}}, false) },
		"terms/":     func() (any, error) { return c.Deal(ctx, spin, board) },
	} {
		refused.Store(what)
		if _, err := call(); !client.Unknown(err) {
			t.Errorf("without %s: %v", what, err)
		}
		refused.Store("")
		if _, err := call(); err != nil {
			t.Errorf("with %s: %v", what, err)
		}
	}
}
