package httpapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"shuffled/internal/shuffle"
	"shuffled/internal/verify"
)

// TestBatchThroughTheAPI: a list of answers, each with a receipt of its own, which
// comes again, and says so; and the largest there is.
func TestBatchThroughTheAPI(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	body := `{"table":"t","deck":"standard-52","count":3,"mix":{"cut":true},"game_ref":"g"}`
	first := s.post("/v1/main/shuffles", "k", body)
	batch := read[ShuffleBatch](t, first)
	if len(batch.Shuffles) != 3 {
		t.Fatalf("%d shuffles", len(batch.Shuffles))
	}
	for i, one := range batch.Shuffles {
		if one.Serial != uint64(i+1) || one.ID != batch.Shuffles[0].ID+uint64(i) ||
			len(committed(t, one.Receipt).Context.Plan) != 1 || one.Table != "t" {
			t.Errorf("shuffle %d is %+v", i, one)
		}
		if v := verify.Receipt([]byte(one.Receipt), verify.Trust{VKey: s.vkey}); v.Verdict != verify.Consistent &&
			v.Verdict != verify.Proved {
			t.Errorf("the receipt of shuffle %d: %s at %s", i, v.Verdict, v.Failed)
		}
		path := fmt.Sprintf("/v1/main/shuffles/%d", one.ID)
		read[Mix](t, s.post(path+"/mix", "", `{"cut":5}`))
		read[Deal](t, s.post(path+"/deal", "", twoHands))
		read[Close](t, s.post(path+"/close", "", `{"outcome":"completed"}`))
		if v := verify.Transcript(s.get(path+"/transcript", "").body,
			verify.Trust{VKey: s.vkey}); v.Verdict != verify.Proved {
			t.Errorf("the transcript of shuffle %d: %s at %s", i, v.Verdict, v.Failed)
		}
	}
	// The same members in another order are the same request.
	other := `{"count":3,"game_ref":"g","mix":{"cut":true},"deck":"standard-52","table":"t"}`
	for _, b := range []string{body, other} {
		wantRepeat(t, first, s.post("/v1/main/shuffles", "k", b))
	}
	for _, b := range []string{strings.Replace(body, ":3", ":4", 1), strings.Replace(body, `"count":3,`, "", 1),
		strings.Replace(body, `"g"`, `"h"`, 1)} {
		s.post("/v1/main/shuffles", "k", b).want(t, CodeIdempotencyKeyReused, "")
	}
	// Each of the round's shuffles has it in its plan.
	beacon := read[ShuffleBatch](t, s.post("/v1/main/shuffles", "b",
		`{"table":"b","deck":"short-36","count":2,"mix":{"beacon":{}}}`))
	a, _ := committed(t, beacon.Shuffles[0].Receipt).Context.Beacon()
	if b, ok := committed(t, beacon.Shuffles[1].Receipt).Context.Beacon(); !ok || a != b {
		t.Errorf("the rounds are %+v and %+v", a, b)
	}
	// A token for some tables is for no batch at another.
	got := s.do(ask{method: http.MethodPost, path: "/v1/main/shuffles", token: s.tableToken, key: "x", body: body})
	got.want(t, CodeForbidden, "")
	size := s.ledger.Live().Size
	s.post("/v1/main/shuffles", "two words", body).want(t, CodeInvalidValue, "Idempotency-Key")
	s.post("/v1/main/shuffles", "p", `{"table":"t","count":2,"parent":{"id":2}}`).want(t, CodeInvalidValue, "count")
	if got := s.ledger.Live().Size; got != size {
		t.Errorf("%d entries were written for nothing", got-size)
	}
}

// TestLargestBatches asks for the most there can be, in shuffles and in cards: the
// request fits into a body, and the answer into a mebibyte.
func TestLargestBatches(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	names := make([]string, shuffle.MaxCards)
	for i := range names {
		names[i] = fmt.Sprintf("%q", fmt.Sprintf("%064d", i))
	}
	long := strings.Repeat("t", 64)
	for name, body := range map[string]string{
		"shuffles": fmt.Sprintf(`{"table":%q,"deck":"standard-54","count":256,"end_at":{"lo":1,"hi":54},"game_ref":%q,"mix":{"beacon":{},"cut":true}}`, long, long),
		"cards": fmt.Sprintf(`{"table":%q,"cards":[%s],"count":16,"game_ref":%q}`, long, strings.Join(names, ","),
			long),
	} {
		got := s.post("/v1/main/shuffles", name, body)
		if n := len(read[ShuffleBatch](t, got).Shuffles); n != map[string]int{"shuffles": 256, "cards": 16}[name] {
			t.Errorf("%s: %d", name, n)
		}
		if len(got.body) > 1<<20 {
			t.Errorf("%s: an answer of %d bytes", name, len(got.body))
		}
		t.Logf("%s: %d bytes asked, %d answered", name, len(body), len(got.body))
		wantRepeat(t, got, s.post("/v1/main/shuffles", name, body))
	}
}
