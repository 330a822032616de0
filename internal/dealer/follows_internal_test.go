package dealer

import (
	"testing"

	"shuffled/internal/audit"
)

// TestNothingBlindFromMemory: what memory has of a blind shuffle may lack entries of other daemons, and a co-dealer
// binds what it opens to the entry before.
func TestNothingBlindFromMemory(t *testing.T) {
	for _, plan := range [][]audit.Planned{nil, {{Source: audit.SourceCoDealer}}} {
		k := newRecent()
		k.records.Add(7, &record{id: 7, commit: &audit.Commit{Context: &audit.Context{Plan: plan}}})
		if _, found := k.get(7); found != (plan == nil) {
			t.Errorf("with the plan %v the shuffle is dealt from memory: %t", plan, found)
		}
	}
}

// TestReceiptOutlivesRetry: a close that is tried again still keeps the receipt of the close that it follows.
func TestReceiptOutlivesRetry(t *testing.T) {
	order := &record{commit: &audit.Commit{Context: new(audit.Context)}}
	req := CloseRequest{end: keptEnd{Follows: "receipt", Unplayed: new(Given)}}
	if err := new(Dealer).unplayedBehind(t.Context(), order, &req, nil); err != nil {
		t.Fatal(err)
	}
	if req.end.Follows != "receipt" || req.end.Unplayed != nil {
		t.Errorf("behind the retry there is %+v", req.end)
	}
}
