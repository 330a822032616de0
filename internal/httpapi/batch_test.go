package httpapi

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"shuffled/internal/audit"
	"shuffled/internal/config"
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

// TestSharedRefusal: operations that are refused together have the same answer, however many there are.
func TestSharedRefusal(t *testing.T) {
	t.Parallel()
	store := new(refusingStore)
	s := newStack(t, stackOptions{stored: func(of ledger.Store) ledger.Store { store.Store = of; return store }})
	store.refuses.Store(true)
	s.post("/v1/main/shuffles", "k", `{"table":"t","deck":"standard-52"}`).want(t, CodeUnavailable, "")
	main, err := s.api.ledgers.find("main")
	must(t, err)
	r := httptest.NewRequest(http.MethodPost, "/v1/main/batch", nil)
	c := &call{w: s.api.record(httptest.NewRecorder(), r), r: r, ledger: main}
	refused := batch.Result{Err: refuse(CodeOverloaded)}
	first := s.api.result(nil, c, refused, nil)
	if again := s.api.result(nil, c, refused, nil); string(again) != string(first) {
		t.Errorf("%s\nand then %s", first, again)
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

// batchOf is the body of a request for n operations.
func batchOf(n int, more string, op func(i int) string) string {
	ops := make([]string, n)
	for i := range ops {
		ops[i] = op(i)
	}
	return `{"operations":[` + strings.Join(ops, ",") + `]` + more + `}`
}

// wantAll wants each operation of a batch answered with the status.
func (s *stack) wantAll(t *testing.T, what, body string, status int) {
	t.Helper()
	for i, r := range read[Batch](t, s.post("/v1/main/batch", "", body)).Results {
		if r.Status != status {
			t.Fatalf("%s: operation %d: %d %s, and not %d", what, i, r.Status, r.Body, status)
		}
	}
}

// TestBatchLimits has a batch at each limit, which is done, and one above it, which is refused and writes nothing.
func TestBatchLimits(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	commit := func(i int) string {
		return fmt.Sprintf(`{"op":"draw","key":"k","body":{"table":"t%d","ranges":[6]}}`, i)
	}
	refused := func(what, body string, code Code, field string) {
		t.Helper()
		size := s.ledger.Live().Size
		s.post("/v1/main/batch", "", body).want(t, code, field)
		if got := s.ledger.Live().Size - size; got != 0 {
			t.Errorf("%s: %d entries were written", what, got)
		}
	}
	first := s.ledger.Live().Size
	s.wantAll(t, "1,024 operations", batchOf(1024, "", commit), 200)
	refused("1,025 operations", batchOf(1025, "", commit), CodeInvalidValue, "operations")

	// All or none is for one append: 1,024 entries.
	final := func(from uint64) func(i int) string {
		return func(i int) string {
			return fmt.Sprintf(`{"op":"deal","shuffle":%d,"body":{"first":0,"runs":[{"count":1,"purpose":"board",`+
				`"public":true}],"close":{"outcome":"completed"}}}`, from+uint64(i))
		}
	}
	const all = `,"all_or_none":true`
	size := s.ledger.Live().Size
	s.wantAll(t, "1,026 entries", batchOf(513, all, final(first)), http.StatusConflict)
	if got := s.ledger.Live().Size; got != size {
		t.Errorf("%d entries were written for all or none", got-size)
	}
	s.wantAll(t, "1,024 entries", batchOf(512, all, final(first)), 200)
	if got := s.ledger.Live().Size; got != size+1024 {
		t.Errorf("%d entries", got-size)
	}

	numbers := func(i int) string {
		return fmt.Sprintf(`{"op":"draw","key":"n","body":{"table":"n%d","numbers":{"of":4096,"take":4096}}}`, i)
	}
	s.wantAll(t, "65,536 places", batchOf(16, "", numbers), 200)
	refused("65,537 places", batchOf(17, "", func(i int) string {
		if i == 16 {
			return commit(0)
		}
		return numbers(i)
	}), CodeInvalidValue, "operations[16]")

	padded := func(n int) string {
		body := batchOf(2, "", func(i int) string { return commit(2000 + i) })
		return body + strings.Repeat(" ", n-len(body))
	}
	refused("1 MiB and a byte", padded(1<<20+1), CodeBodyTooLarge, "")
	s.wantAll(t, "1 MiB", padded(1<<20), 200)
}

// TestBatchesAtOnce: of the operations and places that a ledger works on, an identity has so many that as many are left
// to others.
func TestBatchesAtOnce(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	of, err := s.api.ledgers.find("main")
	must(t, err)
	batches := of.batches
	made := read[Shuffle](t, s.post("/v1/main/draws", "k", `{"table":"t","ranges":[6]}`))
	receipt, err := audit.ParseReceipt(made.Receipt)
	must(t, err)
	entry, err := audit.ParseEntry(receipt.Entry)
	must(t, err)
	id := entry.Actor.Identity
	const share = atOnce / 2
	if !batches.try(id, share-2) {
		t.Fatal("an identity has less than half of the places")
	}
	commit := func(i int) string {
		return fmt.Sprintf(`{"op":"draw","key":"k","body":{"table":"t%d","ranges":[6]}}`, i)
	}
	s.post("/v1/main/batch", "", batchOf(3, "", commit)).want(t, CodeOverloaded, "")
	s.post("/v1/main/batch", "", `{"operations":[{"op":"draw","key":"k","body":{"table":"n",`+
		`"numbers":{"of":4096,"take":192}}}]}`).want(t, CodeOverloaded, "")
	s.wantAll(t, "as many as an identity has", batchOf(2, "", commit), 200)
	got := s.do(ask{method: http.MethodPost, path: "/v1/main/batch", token: s.otherToken,
		body: batchOf(1024, "", commit)})
	if results := read[Batch](t, got).Results; len(results) != 1024 || results[1023].Status != 200 {
		t.Errorf("another identity: %d", got.status)
	}
	batches.leaveN(id, share-2)
	if inside := batches.inside(atOnce); inside != 0 {
		t.Errorf("%d operations are still under way", inside)
	}
}

// TestBatchRate: each operation of a batch is one request of its token's rate.
func TestBatchRate(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{limits: config.Limits{TokenRate: 1, TokenBurst: 8}})
	commit := func(i int) string {
		return fmt.Sprintf(`{"op":"draw","key":"k%d","body":{"table":"t","ranges":[6]}}`, i)
	}
	s.wantAll(t, "a batch", batchOf(7, "", commit), 200)
	if got := s.get("/v1/main/keys", s.dealerToken); got.status != http.StatusOK {
		t.Errorf("one more request: %d", got.status)
	}
	s.get("/v1/main/keys", s.dealerToken).want(t, CodeRateLimited, "")
}

// FuzzBatch sends any body as a batch. What is taken has an answer to each operation, and
// gives the same answers again; what is refused writes nothing; nothing fails inside.
func FuzzBatch(f *testing.F) {
	s := newStack(f, stackOptions{})
	for _, p := range loadContract(f).Paths.Find("/v1/{ledger}/batch").Post.RequestBody.Value.
		Content["application/json"].Examples {
		body, err := json.Marshal(p.Value.Value)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(body))
	}
	for _, body := range []string{
		`{"operations":[{"op":"deal","shuffle":{"op":0},"body":{"first":0,"runs":[{"count":1,"purpose":"burn"}]}}]}`,
		`{"operations":[{"op":"close","shuffle":-1,"body":{}},{"op":"mix","shuffle":1e9,"body":{"cut":1}}]}`,
		`{"operations":[{"op":"reveal","shuffle":{"op":0,"op":1},"body":{"places":[0]}}]}`, `{"operations":null}`} {
		f.Add(body)
	}
	send := func(t *testing.T, body string) (*httptest.ResponseRecorder, []BatchResult) {
		r := httptest.NewRequest(http.MethodPost, "/v1/main/batch", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+s.dealerToken)
		rec := httptest.NewRecorder()
		s.api.ServeHTTP(rec, r)
		var b Batch
		if err := json.Unmarshal(rec.Body.Bytes(), &b); err != nil || rec.Code >= 500 {
			t.Fatalf("%q: %d %s", body, rec.Code, rec.Body)
		}
		return rec, b.Results
	}
	f.Fuzz(func(t *testing.T, body string) {
		before := s.ledger.Live().Size
		first, results := send(t, body)
		after := s.ledger.Live().Size
		var asked struct {
			Operations []any `json:"operations"`
		}
		switch err := json.Unmarshal([]byte(body), &asked); {
		case first.Code != http.StatusOK:
			if after != before {
				t.Fatalf("%q was refused with %s, and wrote %d entries", body, first.Body, after-before)
			}
			return
		case err != nil || len(results) != len(asked.Operations):
			t.Fatalf("%q: %d answers to %d operations: %v", body, len(results), len(asked.Operations), err)
		}
		_, again := send(t, body)
		for i, r := range results {
			if r.Status >= 500 {
				t.Fatalf("%q: operation %d: %d %s", body, i, r.Status, r.Body)
			}
			plain := strings.NewReplacer(`"repeated":true,`, "", `,"repeated":true`, "").Replace
			if r.Status == 200 && plain(string(again[i].Body)) != plain(string(r.Body)) {
				t.Fatalf("%q: operation %d is answered with %s, and again with %s", body, i, r.Body, again[i].Body)
			}
		}
	})
}
