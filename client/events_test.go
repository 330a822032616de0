package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"shuffled/client"
)

// cut ends an answer after some writes.
type cut struct {
	http.ResponseWriter
	left *int
}

func (c cut) Unwrap() http.ResponseWriter { return c.ResponseWriter }

func (c cut) Write(b []byte) (int, error) {
	if *c.left--; *c.left < 0 {
		panic(http.ErrAbortHandler)
	}
	return c.ResponseWriter.Write(b)
}

// TestEvents follows over connections that break again and again.
func TestEvents(t *testing.T) {
	d := newDaemon(t)
	streams := 0
	c := d.client(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/v1/main/events" {
				streams++
				left := 2 // a comment, and what is there
				w = cut{w, &left}
			}
			next.ServeHTTP(w, r)
		})
	}, nil)
	commit := func() {
		t.Helper()
		if _, err := c.Commit(t.Context(), client.NewKey(), client.ShuffleRequest{Table: "t",
			Deck: ptr("short-36")}); err != nil {
			t.Fatal(err)
		}
	}
	commit()
	start, last, seen := uint64(0), uint64(0), 0
	for e, err := range c.Events(t.Context(), &start) {
		must(t, err)
		if e.Index != nil {
			if *e.Index <= last {
				t.Fatalf("entry %d after %d", *e.Index, last)
			}
			last = *e.Index
		}
		if seen++; seen == 4 {
			break
		}
		commit()
	}
	if streams < 2 {
		t.Errorf("%d streams", streams)
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range c.Events(ctx, nil) {
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	long := d.client(func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, strings.Repeat("data: "+strings.Repeat(" ", 60_000)+"\n", 3)+"data: {}\n\n")
		})
	}, nil)
	for _, err := range long.Events(t.Context(), nil) {
		isFault(t, "an event of too many lines", err, "not what the contract says")
	}
	nobody := d.client(nil, func(cfg *client.Config) { cfg.Token = "" })
	for _, err := range nobody.Events(t.Context(), nil) {
		var refused *client.Error
		if !errors.As(err, &refused) || refused.Code != client.CodeUnauthorized {
			t.Error(err)
		}
	}
}
