package client_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"shuffled/client"
	"shuffled/internal/verify"
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

// TestTranscriptAfterChain shuffles a stub again in the middle of a hand, and a stub of that. The transcripts of all of
// them are proved with their tapes after the close of the last, and the list says of each what its own state says.
func TestTranscriptAfterChain(t *testing.T) {
	t.Parallel()
	d := newDaemon(t)
	c := d.client(nil, nil)
	ctx := client.FirstTried(t.Context(), d.start)
	chain := make([]*client.Committed, 3)
	for i := range chain {
		var err error
		if i == 0 {
			chain[i], err = c.Commit(ctx, client.NewKey(), client.ShuffleRequest{Table: "t", Deck: ptr("standard-52")})
		} else {
			chain[i], err = c.Child(ctx, client.NewKey(), chain[i-1], client.ShuffleRequest{Table: "t"})
		}
		if err == nil {
			_, err = c.Deal(ctx, chain[i], twoSeats)
		}
		must(t, err)
	}
	want := func(s *client.Committed, state client.ShuffleStateState, tape string) {
		t.Helper()
		status, err := c.State(ctx, s.ID)
		if err != nil || status.State != state {
			t.Fatalf("shuffle %d is not %s: %+v, %v", s.ID, state, status, err)
		}
		listed := 0
		for one, err := range c.Shuffles(ctx, client.ListShufflesParams{Table: ptr("t")}) {
			must(t, err)
			if one.ID == s.ID {
				listed++
				if string(one.State) != string(state) {
					t.Errorf("shuffle %d is %s, and %s in the list", s.ID, state, one.State)
				}
			}
		}
		text, err := c.Transcript(ctx, s.ID, "")
		if err != nil || listed != 1 {
			t.Fatalf("listed %d times, %v", listed, err)
		}
		v := verify.Transcript(text, verify.Trust{VKey: d.vkey})
		if v.Verdict != verify.Proved || v.State != string(state) {
			t.Errorf("the transcript of shuffle %d: %s, %s", s.ID, v.Verdict, v.State)
		}
		for _, step := range v.Steps {
			if step.Name == "tape" && step.Result != tape {
				t.Errorf("the tape of shuffle %d: %s, %s", s.ID, step.Result, step.Detail)
			}
		}
	}
	want(chain[0], client.ShuffleStateStateContinued, verify.StepNotChecked)
	want(chain[1], client.ShuffleStateStateContinued, verify.StepNotChecked)
	want(chain[2], client.ShuffleStateStateOpen, verify.StepNotChecked)
	l := &liar{forge: true}
	l.tell("/shuffles", func([]byte) []byte {
		return []byte(`{"shuffles":[{"id":1,"table":"t","serial":1,"kind":"cards",` +
			`"committed_at":"2026-01-02T03:04:05.000Z","close_by":"2026-01-02T04:04:05.000Z","state":"continued","closed_at":"2026-01-02T03:05:05.000Z",` +
			`"outcome":"completed"}]}`)
	})
	for _, err := range d.client(l.between, nil).Shuffles(ctx, client.ListShufflesParams{}) {
		isFault(t, "continued and completed", err, "was not asked for")
	}
	if _, err := c.Close(ctx, chain[2], client.CloseRequest{Outcome: client.OutcomeCompleted}); err != nil {
		t.Fatal(err)
	}
	for _, s := range chain {
		want(s, client.ShuffleStateStateClosed, verify.StepOK)
	}
	for _, err := range c.History(ctx, 0) {
		isFault(t, "the genesis as a commit", err, "entry 0 is no commit")
	}
	isFault(t, "the genesis as a found shuffle", c.ProveSummary(ctx, client.ShuffleSummary{Table: "t"}),
		"entry 0 is no commit")
}
