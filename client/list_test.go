package client_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"shuffled/client"
)

// TestList asks with every parameter, and pages.
func TestList(t *testing.T) {
	d := newDaemon(t)
	var asked url.Values
	c := d.client(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked = r.URL.Query()
			next.ServeHTTP(w, r)
		})
	}, nil)
	var ids []uint64
	for range 3 {
		s, err := c.Commit(t.Context(), client.NewKey(),
			client.ShuffleRequest{Table: "t-1", Deck: ptr("standard-52"), GameRef: ptr("game-7")})
		must(t, err)
		ids = append(ids, s.ID)
	}
	from, to := client.Timestamp{Time: time.Now().Add(-time.Hour)}, client.Timestamp{Time: time.Now().Add(time.Hour)}
	find := func(params client.ListShufflesParams) (found []uint64) {
		t.Helper()
		for s, err := range c.Shuffles(t.Context(), params) {
			must(t, err)
			found = append(found, s.ID)
		}
		return found
	}
	found := find(client.ListShufflesParams{
		Table: ptr("t-1"), Serial: ptr(uint64(2)), GameRef: ptr("game-7"), From: &from, To: &to,
		State: ptr(client.ListShufflesParamsState("open")), Limit: ptr(uint64(5)),
	})
	if !cmp.Equal(found, ids[1:2]) {
		t.Errorf("found %v", found)
	}
	if len(asked) != 7 || asked.Get("from") != from.UTC().Format("2006-01-02T15:04:05.000Z") {
		t.Errorf("asked with %v", asked)
	}
	if found := find(client.ListShufflesParams{Limit: ptr(uint64(2))}); !cmp.Equal(found, ids) {
		t.Errorf("found %v in pages, want %v", found, ids)
	}
	for _, err := range c.Shuffles(t.Context(), client.ListShufflesParams{Serial: ptr(uint64(1))}) {
		if err == nil {
			t.Error("a serial of no table was looked for")
		}
	}
}

// TestSamePage: a list whose next page is the page itself ends as a fault.
func TestSamePage(t *testing.T) {
	t.Parallel()
	d, l := newDaemon(t), &liar{forge: true}
	c := d.client(l.between, nil)
	l.tell("/shuffles", func([]byte) []byte { return []byte(`{"shuffles":[],"next":"x"}`) })
	for _, err := range c.Shuffles(t.Context(), client.ListShufflesParams{}) {
		isFault(t, "shuffles", err, "the same page")
	}
	l.tell("/tables", func([]byte) []byte { return []byte(`{"tables":[],"next":"x"}`) })
	for _, err := range c.Tables(t.Context()) {
		isFault(t, "tables", err, "the same page")
	}
}
