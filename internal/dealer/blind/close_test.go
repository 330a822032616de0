package dealer

import (
	"testing"

	"shuffled/internal/audit"
)

// TestReceiptOutlivesRetry: a close that is tried again still keeps the receipt of the close that it follows.
func TestReceiptOutlivesRetry(t *testing.T) {
	order := &record{commit: &audit.Commit{Context: new(audit.Context)}}
	req := ending{end: keptEnd{Follows: "receipt", Unplayed: new(Given)}}
	if err := new(sides).unplayedBehind(t.Context(), order, &req, nil); err != nil {
		t.Fatal(err)
	}
	if req.end.Follows != "receipt" || req.end.Unplayed != nil {
		t.Errorf("behind the retry there is %+v", req.end)
	}
}
