package ledger

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"
)

// TestAccessVectors holds the chain of records against the vectors of docs/SPEC.md section 5.8.
func TestAccessVectors(t *testing.T) {
	file, err := os.ReadFile("../audit/testdata/hashes.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors struct {
		Records []struct {
			Time       int64  `json:"time"`
			Request    string `json:"request_id"`
			Credential string `json:"credential"`
			Method     string `json:"method"`
			Path       string `json:"path"`
			Hash       string `json:"hash"`
		} `json:"records"`
	}
	if err := json.Unmarshal(file, &vectors); err != nil || len(vectors.Records) < 2 {
		t.Fatalf("%d records: %v", len(vectors.Records), err)
	}
	var head AccessHead
	for _, r := range vectors.Records {
		head = head.Next(Access{Time: r.Time, Request: r.Request, Token: r.Credential, Method: r.Method, Path: r.Path})
		if got := hex.EncodeToString(head.Hash[:]); got != r.Hash {
			t.Errorf("record %d is %s, want %s", head.Count, got, r.Hash)
		}
	}
}
