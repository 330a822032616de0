package blind

import (
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/dealer/record"
)

// TestReceiptOutlivesRetry: a close that is tried again still keeps the receipt of the close that it follows.
func TestReceiptOutlivesRetry(t *testing.T) {
	order := &record.Record{Commit: &audit.Commit{Context: new(audit.Context)}}
	req := Ending{End: record.KeptEnd{Follows: "receipt", Unplayed: new(record.Given)}}
	if err := new(Sides).UnplayedBehind(t.Context(), order, &req, nil); err != nil {
		t.Fatal(err)
	}
	if req.End.Follows != "receipt" || req.End.Unplayed != nil {
		t.Errorf("behind the retry there is %+v", req.End)
	}
}

// TestBehindAnotherCommit: the first places of an order are opened behind the commit that names it, and no other one.
func TestBehindAnotherCommit(t *testing.T) {
	own := &audit.Commit{Context: new(audit.Context)}
	other := &audit.Commit{Context: own.Context, Commitment: [32]byte{2}}
	if comesAfter(new(record.Record), 5, own, own) != nil || comesAfter(new(record.Record), 5, own, other) == nil {
		t.Error("an order is opened behind the commit of another shuffle, or not behind its own")
	}
}
