package client_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"shuffled/client"
)

// TestLoadAt finds shuffles by their table.
func TestLoadAt(t *testing.T) {
	d := newDaemon(t)
	c := d.client(nil, nil)
	commit := func(table string) uint64 {
		t.Helper()
		s, err := c.Commit(t.Context(), client.NewKey(), client.ShuffleRequest{Table: table, Deck: ptr("short-36")})
		must(t, err)
		return s.ID
	}
	one, other := commit("a"), commit("b")
	s, err := c.LoadAt(t.Context(), "a", 0)
	if err != nil || s.ID != one {
		t.Fatalf("%+v, %v", s, err)
	}
	hand := client.DealRequest{Runs: []client.Run{{Count: 2, Purpose: "board"}}}
	if _, err := c.Deal(t.Context(), s, hand); err != nil {
		t.Error(err)
	}
	two := commit("a")
	_, err = c.LoadAt(t.Context(), "a", 0)
	var refused *client.Error
	if !errors.As(err, &refused) || refused.Code != client.CodeWhichShuffle ||
		!slices.Equal(refused.Shuffles, []uint64{one, two}) {
		t.Errorf("%v", err)
	}
	if s, err := c.LoadAt(t.Context(), "a", 2); err != nil || s.ID != two {
		t.Errorf("%+v, %v", s, err)
	}
	var tables []string
	for table, err := range c.Tables(t.Context()) {
		must(t, err)
		tables = append(tables, table.Table)
	}
	if !slices.Equal(tables, []string{"a", "b"}) {
		t.Errorf("%v", tables)
	}
	if decks, err := c.Decks(t.Context()); err != nil || len(decks) != 21 {
		t.Errorf("%d decks, %v", len(decks), err)
	}

	// A daemon that answers with the shuffle of another table, or another number.
	liar := d.client(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.URL.Path = strings.NewReplacer("@b:1", "@a:1", "@b", "@a:1", "@a:2", "@a:1").Replace(r.URL.Path)
			next.ServeHTTP(w, r)
		})
	}, nil)
	for _, at := range []struct {
		table  string
		serial uint64
	}{{"b", 0}, {"b", 1}, {"a", 2}} {
		var fault *client.Fault
		if s, err := liar.LoadAt(t.Context(), at.table, at.serial); !errors.As(err, &fault) {
			t.Errorf("%v: %+v, %v (%d)", at, s, err, other)
		}
	}
}
