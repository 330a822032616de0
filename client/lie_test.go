package client_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"shuffled/client"
	"shuffled/internal/keys"
)

// liar stands between client and daemon and changes answers.
type liar struct {
	mu   sync.Mutex
	path string              // answers to requests whose path ends so
	lie  func([]byte) []byte // nil: the truth

	forge bool // refusals are lied about too
}

func (l *liar) tell(path string, lie func([]byte) []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.path, l.lie = path, lie
}

func (l *liar) between(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		body := rec.Body.Bytes()
		l.mu.Lock()
		inLog := strings.HasPrefix(r.URL.Path, "/log/") // only when it is meant
		if l.lie != nil && strings.HasSuffix(r.URL.Path, l.path) && inLog == strings.HasPrefix(l.path, "/log") &&
			(rec.Code == http.StatusOK || l.forge) {
			body, rec.Code = l.lie(body), http.StatusOK
		}
		l.mu.Unlock()
		w.Header().Set("Content-Type", rec.Header().Get("Content-Type"))
		w.WriteHeader(rec.Code)
		w.Write(body)
	})
}

// forgeries returns copies of a JSON document with one thing changed in each:
// every value altered, every member and element left out.
func forgeries(t *testing.T, truth []byte) map[string][]byte {
	t.Helper()
	out := make(map[string][]byte)
	var root any
	must(t, json.Unmarshal(truth, &root))
	add := func(at string) {
		b, err := json.Marshal(root)
		must(t, err)
		out[at] = b
	}
	var walk func(at string, v any, set func(any))
	walk = func(at string, v any, set func(any)) {
		switch v := v.(type) {
		case map[string]any:
			for name, member := range v {
				if member != 0.0 && member != false { // which absent ones are
					delete(v, name)
					add(at + "/" + name + " left out")
					v[name] = member
				}
				walk(at+"/"+name, member, func(n any) { v[name] = n })
			}
		case []any:
			if len(v) > 0 {
				set(v[:len(v)-1])
				add(at + " cut short")
				set(append(append([]any{}, v...), v[len(v)-1]))
				add(at + " with one twice")
				set(v)
			}
			if len(v) > 1 {
				v[0], v[1] = v[1], v[0]
				add(at + " in another order")
				v[0], v[1] = v[1], v[0]
			}
			for i, e := range v {
				walk(fmt.Sprintf("%s/%d", at, i), e, func(n any) { v[i] = n })
			}
		case string:
			for i := 0; i < len(v); i += max(1, len(v)/8) {
				set(v[:i] + string('A'+(v[i]+1)%26) + v[i+1:])
				if v[i] != byte('A'+(v[i]+1)%26) {
					add(fmt.Sprintf("%s character %d", at, i))
				}
			}
			set(v)
		case float64:
			set(v + 1)
			add(at + " + 1")
			set(v)
		case bool:
			set(!v)
			add(at + " inverted")
			set(v)
		}
	}
	walk("", root, func(n any) { root = n })
	return out
}

// TestSwaps answers with true evidence of something else.
func TestSwaps(t *testing.T) {
	t.Parallel()
	d, l := newDaemon(t), new(liar)
	c := d.client(l.between, nil)
	ctx := t.Context()
	answers := make(map[string][]byte)
	keep := func(name, path string) { l.tell(path, func(b []byte) []byte { answers[name] = b; return b }) }
	commit := func(key, table string) *client.Committed {
		t.Helper()
		s, err := c.Commit(ctx, key, client.ShuffleRequest{Table: table, Deck: ptr("standard-52")})
		must(t, err)
		return s
	}
	keep("commit", "/shuffles")
	one := commit("1", "t")
	keep("deal", "/deal")
	if _, err := c.Deal(ctx, one, twoSeats); err != nil {
		t.Fatal(err)
	}
	keep("close", "/close")
	if _, err := c.Close(ctx, one, client.CloseRequest{Outcome: client.OutcomeCompleted}); err != nil {
		t.Fatal(err)
	}
	keep("transcript", "/transcript")
	if _, err := c.Transcript(ctx, one.ID, ""); err != nil {
		t.Fatal(err)
	}
	l.tell("", nil)
	two := commit("2", "u")

	fault := func(what string, err error) {
		t.Helper()
		var f *client.Fault
		if !errors.As(err, &f) {
			t.Errorf("%s of another shuffle was believed: %v", what, err)
		}
	}
	swap := func(name, path string) { l.tell(path, func([]byte) []byte { return answers[name] }) }
	swap("commit", "/shuffles")
	_, err := c.Commit(ctx, "3", client.ShuffleRequest{Table: "t", Deck: ptr("standard-52")})
	fault("a commit", err)
	swap("deal", "/deal")
	_, err = c.Deal(ctx, two, twoSeats)
	fault("a deal", err)
	swap("close", "/close")
	_, err = c.Close(ctx, two, client.CloseRequest{Outcome: client.OutcomeCompleted})
	fault("a close", err)
	swap("transcript", "/transcript")
	_, err = c.Transcript(ctx, two.ID, "")
	fault("a transcript", err)
	_, err = c.Transcript(ctx, one.ID, "seat-1")
	fault("everybody's transcript", err)

	// The same ledger with another signing key.
	other := newDaemon(t)
	impostor := other.client(nil, func(cfg *client.Config) { cfg.VKey = d.vkey })
	_, err = impostor.Commit(ctx, "1", client.ShuffleRequest{Table: "t", Deck: ptr("standard-52")})
	fault("a ledger", err)
	_, err = impostor.Receipt(ctx, 0)
	fault("a receipt", err)
}

// TestFork has two ledgers under one key and takes the deck's names from the other one.
func TestFork(t *testing.T) {
	t.Parallel()
	signing, err := keys.GenerateSigning("example.com/test")
	must(t, err)
	one, two := newDaemonUnder(t, signing), newDaemonUnder(t, signing)
	other, err := two.client(nil, nil).Commit(t.Context(), "k",
		client.ShuffleRequest{Table: "t", Deck: ptr("short-36")})
	must(t, err)
	c := one.client(func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/transcript") {
				r.Header.Set("Authorization", "Bearer "+two.token)
				two.api.ServeHTTP(w, r)
				return
			}
			h.ServeHTTP(w, r)
		})
	}, nil)
	commits(t, two.client(nil, nil), 4, "b") // so that no two sizes are the same
	if _, err := one.client(nil, nil).Commit(t.Context(), "k",
		client.ShuffleRequest{Table: "t", Deck: ptr("short-36")}); err != nil {
		t.Fatal(err)
	}
	s, err := c.Load(t.Context(), other.ID) // and has no names
	if err != nil || s.ID != other.ID {
		t.Fatalf("%+v, %v", s, err)
	}
	var f *client.Fault
	if _, err := c.Deal(t.Context(), s, twoSeats); !errors.As(err, &f) || !strings.Contains(f.What, "another commit") {
		t.Errorf("%v", err)
	}
}

// TestBadDaemon wants no trust in answers that differ from what was asked.
func TestBadDaemon(t *testing.T) {
	t.Parallel()
	d := newDaemon(t)
	// Between the two, requests are rewritten: the daemon's answers are true, but of something else than was asked for.
	for name, c := range map[string]struct {
		replace, by string
		ask         client.ShuffleRequest
	}{
		"take":        {`"take":5`, `"take":4`, client.ShuffleRequest{Take: ptr(5)}},
		"no take":     {`"table"`, `"take":5,"table"`, client.ShuffleRequest{}},
		"end":         {`"end_at":5`, `"end_at":6`, client.ShuffleRequest{EndAt: &client.EndAt{Lo: 5, Hi: 5}}},
		"drawn end":   {`"lo":5`, `"lo":4`, client.ShuffleRequest{EndAt: &client.EndAt{Lo: 5, Hi: 7}}},
		"no end":      {`"table"`, `"end_at":5,"table"`, client.ShuffleRequest{}},
		"game":        {`"game_ref":"a"`, `"game_ref":"b"`, client.ShuffleRequest{GameRef: ptr("a")}},
		"no game":     {`"table"`, `"game_ref":"b","table"`, client.ShuffleRequest{}},
		"custom deck": {`["a","b","c"]`, `["a","b"]`, client.ShuffleRequest{Cards: []string{"a", "b", "c"}}},
		"other card":  {`["a","b","c"]`, `["a","b","d"]`, client.ShuffleRequest{Cards: []string{"a", "b", "c"}}},
		"mix": {`"cut":true`, `"slots":["q6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s="]`,
			client.ShuffleRequest{Mix: &client.MixPlan{Cut: ptr(client.MixPlanCut(true))}}},
		"no mix": {`"table"`, `"mix":{"cut":true},"table"`, client.ShuffleRequest{}},
		"less mix": {`"beacon":{},`, ``,
			client.ShuffleRequest{Mix: &client.MixPlan{Beacon: &client.BeaconPlan{},
				Cut: ptr(client.MixPlanCut(true))}}},
		"table": {`"table":"t"`, `"table":"u"`, client.ShuffleRequest{}},
		"no co-dealer": {`,"mix":{"co_dealer":true}`, ``,
			client.ShuffleRequest{Mix: &client.MixPlan{CoDealer: ptr(client.MixPlanCoDealer(true))}}},
	} {
		rewrite := func(h http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body := readAll(t, r)
				changed := strings.Replace(body, c.replace, c.by, 1)
				if changed == body && r.Method == http.MethodPost {
					t.Errorf("%s: %s is not in %s", name, c.replace, body)
				}
				h.ServeHTTP(w, withBody(r, changed))
			})
		}
		req := c.ask
		req.Table = "t"
		if req.Cards == nil {
			req.Deck = ptr("short-36")
		}
		_, err := d.client(rewrite, nil).Commit(t.Context(), strings.ReplaceAll(name, " ", "-"), req)
		var f *client.Fault
		if !errors.As(err, &f) {
			t.Errorf("%s: %v", name, err)
		}
	}
	other := func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			h.ServeHTTP(w, withBody(r, strings.Replace(readAll(t, r), "[6,6]", "[6,7]", 1)))
		})
	}
	_, err := d.client(other, nil).Draws(t.Context(), "ranges",
		client.DrawsRequest{Table: "dice", Ranges: []uint32{6, 6}})
	isFault(t, "other ranges", err, "of another deck, or of other ranges")
	// A child that leaves out cards as if others had dealt them, and one after another client did deal on.
	fewer := d.client(func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body := strings.Replace(readAll(t, r), `"parent":{`, `"parent":{"positions":[50,51],`, 1)
			h.ServeHTTP(w, withBody(r, body))
		})
	}, nil)
	for name, c := range map[string]*client.Client{"v": fewer, "w": d.client(nil, nil)} {
		s, err := c.Commit(t.Context(), client.NewKey(), client.ShuffleRequest{Table: name, Deck: ptr("standard-52")})
		must(t, err)
		_, err = c.Deal(t.Context(), s, twoSeats)
		must(t, err)
		replica := d.client(nil, nil)
		again, err := replica.Load(t.Context(), s.ID)
		must(t, err)
		_, err = replica.Deal(t.Context(), again, client.DealRequest{First: 5,
			Runs: []client.Run{{Count: 1, Purpose: client.PurposeBurn}}})
		must(t, err)
		switch child, err := c.Child(t.Context(), client.NewKey(), s, client.ShuffleRequest{Table: name}); {
		case c == fewer:
			isFault(t, "a child of two cards", err, "of other cards of it")
		case err != nil || child.Places() != 46:
			t.Errorf("after another client dealt on: %+v, %v", child, err)
		}
	}
}
