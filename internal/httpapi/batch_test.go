package httpapi

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"shuffled/internal/dealer/api"
	"shuffled/internal/dealer/batch"
	"shuffled/internal/ledger"
)

// sendBatch sends operations and returns the answers to them.
func (s *stack) sendBatch(t *testing.T, ops ...string) []BatchResult {
	t.Helper()
	got := s.post("/v1/main/batch", "", `{"operations":[`+strings.Join(ops, ",")+`]}`)
	results := read[Batch](t, got).Results
	if len(results) != len(ops) {
		t.Fatalf("%d answers to %d operations", len(results), len(ops))
	}
	return results
}

// TestOperationForNow: an operation that is refused for now says when the batch may be sent
// again, as the header of its single request does.
func TestOperationForNow(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	r := httptest.NewRequest(http.MethodPost, "/v1/main/batch", nil)
	c := &call{w: s.api.record(httptest.NewRecorder(), r), r: r}
	for err, want := range map[error]int{ledger.ErrOverloaded: retryAfter, ledger.ErrUnknownOutcome: retryAfter,
		ledger.ErrFrozen: 0, api.ErrRepeated: 0,
		&batch.NoShuffleError{Cause: ledger.ErrOverloaded}:                               retryAfter,
		&batch.NoShuffleError{Cause: &batch.NoShuffleError{Cause: ledger.ErrOverloaded}}: retryAfter,
		&batch.NoShuffleError{Cause: api.ErrKeyReused}:                                   0} {
		var got BatchResult
		failed := json.Unmarshal(s.api.result(nil, c, batch.Result{Err: err}, nil), &got)
		if failed != nil || value(got.RetryAfter) != want || got.Status < 400 {
			t.Errorf("%v: %d after %d, %v", err, got.Status, value(got.RetryAfter), failed)
		}
	}
}

// TestBadOperations: each refuses itself, with the field and rule of its single request.
func TestBadOperations(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	good := `{"op":"shuffle","key":"%s","body":{"table":"t","deck":"standard-52"}}`
	for i, c := range []struct{ op, code, field string }{
		{`{"op":"shuffle","body":{"table":"t","deck":"standard-52"}}`, "idempotency_key_missing", "key"},
		{`{"op":"shuffle","key":"two words","body":{"table":"t","deck":"standard-52"}}`, "invalid_value", "key"},
		{`{"op":"shuffle","key":"x","shuffle":2,"body":{"table":"t","deck":"standard-52"}}`, "invalid_value", "shuffle"},
		{`{"op":"shuffle","key":"x","body":{"table":"t","deck":"no"}}`, "invalid_request", "deck"},
		{`{"op":"shuffle","key":"x","body":{"table":"t","dock":"no"}}`, "unknown_member", "dock"},
		{`{"op":"reshuffle","key":"x","body":{}}`, "invalid_value", "op"},
		{`{"op":"deal","body":` + twoHands + `}`, "invalid_value", "shuffle"},
		{`{"op":"deal","key":"k","shuffle":2,"body":` + twoHands + `}`, "invalid_value", "key"},
		{`{"op":"deal","shuffle":{"op":1},"body":` + twoHands + `}`, "invalid_value", "shuffle.op"},
		{`{"op":"deal","shuffle":{"op":0},"body":{"runs":[]}}`, "invalid_value", "first"},
		{`{"op":"deal","shuffle":{"op":0},"body":{"first":0,"runs":[{"count":2,"purpose":"seat"}]}}`, "invalid_request",
			"runs[0].recipient"},
		{`{"op":"deal","shuffle":999999,"body":` + twoHands + `}`, "not_found", ""},
		{`{"op":"close","shuffle":{"op":0},"body":{"outcome":"void","reason":"tape_lost"}}`, "forbidden", "reason"},
	} {
		results := s.sendBatch(t, fmt.Sprintf(good, fmt.Sprint("k", i)), c.op, fmt.Sprintf(good, fmt.Sprint("l", i)))
		var p Problem
		if err := json.Unmarshal(results[1].Body, &p); err != nil || string(p.Code) != c.code ||
			value(p.Field) != c.field || p.Status != results[1].Status {
			t.Errorf("%s: %d %s", c.op, results[1].Status, results[1].Body)
		}
		if results[0].Status != 200 || results[2].Status != 200 {
			t.Errorf("%s: its neighbours are %d and %d", c.op, results[0].Status, results[2].Status)
		}
	}
	results := s.sendBatch(t, fmt.Sprintf(good, "two words"), `{"op":"deal","shuffle":{"op":0},"body":`+twoHands+`}`)
	if body := string(results[1].Body); results[1].Status != 422 || !strings.Contains(body, "operation 0 did not") {
		t.Errorf("a deal from what no operation made: %d %s", results[1].Status, body)
	}
	size := s.ledger.Live().Size
	one := fmt.Sprintf(good, "whole")
	for body, field := range map[string]string{
		`{"operations":[]}`: "operations", `{"operations":[` + one + `],"all_or_none":false}`: "all_or_none",
		`{"operations":[` + one + strings.Repeat(","+one, 1024) + `]}`: "operations",
		`{"operations":[{"op":"deal","shuffle":{"of":0},"body":{}}]}`:  "operations[0].shuffle.of",
	} {
		if got := s.post("/v1/main/batch", "", body); got.status != http.StatusBadRequest ||
			!strings.Contains(string(got.body), `"field":"`+field+`"`) {
			t.Errorf("%.80s: %d %s", body, got.status, got.body)
		}
	}
	hand := one + `,{"op":"deal","shuffle":{"op":0},"body":` + twoHands + `}`
	s.post("/v1/main/batch", "", `{"operations":[`+hand+`],"all_or_none":true}`).want(t, CodeAllOrNone, "operations[1]")
	results = read[Batch](t, s.post("/v1/main/batch", "",
		`{"operations":[`+one+`,{"op":"draw","key":"d","body":{"table":"u","ranges":[]}}],"all_or_none":true}`)).Results
	if results[0].Status != 409 || results[1].Status/100 != 4 {
		t.Errorf("all or none: %d and %d", results[0].Status, results[1].Status)
	}
	if got := s.ledger.Live().Size; got != size {
		t.Errorf("%d entries were written for nothing", got-size)
	}
}
