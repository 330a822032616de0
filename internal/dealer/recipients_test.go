package dealer_test

import (
	"slices"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/dealer"
)

// TestRecipientsAlike: a recipient's file holds the cards of that name and of no
// name that begins, ends or looks like it, before the close and after it.
func TestRecipientsAlike(t *testing.T) {
	t.Parallel()
	tb := newTable(t, nil)
	s := tb.commit("k", dealer.ShuffleRequest{Table: "t", Deck: "standard-52"})
	names := []string{"seat-1", "seat-10", "seat-11", "seat-1.2", "SEAT-1", "at-1", "seat"}
	var runs []audit.Run
	for _, name := range names {
		runs = append(runs, seat(1, name))
	}
	tb.deal(s.ID, dealer.DealRequest{Runs: append(runs, audit.Run{Count: 1, Purpose: audit.PurposeRabbit}, board(1),
		seat(1, "seat-1"))})
	check := func(when string) {
		t.Helper()
		for i, name := range names {
			want := []int{i, 8}
			if name == "seat-1" {
				want = []int{0, 8, 9}
			}
			var got []int
			for _, c := range tb.transcript(s.ID, dealer.View{Identity: "tester", Recipient: name}).Cards {
				got = append(got, c.Place)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, the file of %s holds the places %v, want %v", when, name, got, want)
			}
		}
		for _, name := range []string{"seat-", "seat-100", "seat-1.", "s", "eat-1"} {
			_, err := tb.Transcript(t.Context(), s.ID, dealer.View{Identity: "tester", Recipient: name})
			wantRefusal(t, when+", "+name, err, "recipient", "")
		}
	}
	check("before the close")
	tb.close(s.ID)
	check("after it")
}
