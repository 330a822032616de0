package client

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"shuffled/internal/audit"
)

// TestHistoryGaps walks tables of a house that signs commits which do not follow each other.
func TestHistoryGaps(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.pace = 10
	commit := func(table string, serial, previous uint64) audit.Body {
		c, _, _ := h.commit()
		c.Context.Table, c.Serial, c.Previous = table, serial, previous
		return c
	}
	receipts := h.receipts(
		&audit.Event{Kind: audit.EventTableOpen, Name: "t"}, // 0
		commit("t", 1, 0),  // 1
		commit("u", 1, 0),  // 2
		commit("t", 2, 1),  // 3
		commit("t", 3, 2),  // 4: before it is another table
		commit("t", 4, 3),  // 5: serial 3 is left out
		commit("t", 2, 6),  // 6: after itself
		commit("t", 3, 6),  // 7
		commit("t", 3, 9),  // 8: before it is one that comes after it
		commit("t", 3, 1),  // 9: serial 2 is left out
		commit("t", 9, 20), // 10
	)
	h.pace = -10
	early := h.receipts(&audit.Event{Kind: audit.EventTableOpen, Name: "t"}, commit("t", 1, 0),
		commit("t", 2, 1)) // earlier than the commit before it
	for _, test := range []struct {
		of    []string
		from  uint64
		walks int
		gap   string // "" for none
	}{
		{receipts, 3, 2, ""},
		{receipts, 4, 1, "entry 2 is not the commit before serial 3 of table t"},
		{receipts, 5, 1, "entry 3 is not the commit before serial 4 of table t"},
		{receipts, 7, 1, "it names a commit before it that is none"},
		{receipts, 8, 0, "it names a commit before it that is none"},
		{receipts, 9, 1, "entry 1 is not the commit before serial 3 of table t"},
		{receipts, 10, 0, "it names a commit before it that is none"},
		{slices.Concat(receipts[:1], []string{""}, receipts[2:]), 3, 1,
			"the daemon has no entry 1, which entry 3 names as the commit before it"},
		{early, 2, 1, "entry 1 is not the commit before serial 2 of table t"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if i, err := strconv.Atoi(path.Base(path.Dir(r.URL.Path))); err != nil {
				t.Error(err)
			} else if test.of[i] == "" {
				w.Header().Set("Content-Type", "application/problem+json")
				w.WriteHeader(http.StatusNotFound)
				w.Write([]byte(`{"type":"x","title":"no","status":404,"code":"not_found"}`))
			} else {
				w.Write([]byte(test.of[i]))
			}
		}))
		c, err := New(Config{URL: server.URL, Ledger: "main", VKey: h.vkey})
		must(t, err)
		walks, gap := 0, ""
		for _, err := range c.History(t.Context(), test.from) {
			var fault *Fault
			switch {
			case err == nil:
				walks++
			case errors.As(err, &fault):
				gap = fault.What
			default:
				t.Error(err)
			}
		}
		if walks != test.walks || gap == "" != (test.gap == "") || !strings.Contains(gap, test.gap) {
			t.Errorf("from %d: %d commits and %q, want %d and %q", test.from, walks, gap, test.walks, test.gap)
		}
		c.CloseIdleConnections()
		server.Close()
	}
}
