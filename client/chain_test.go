package client_test

import (
	"testing"

	"shuffled/client"
	"shuffled/internal/verify"
)

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
