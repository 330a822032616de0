package httpapi

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"shuffled/internal/config"
	"shuffled/internal/terms"
)

// TestBodyRoom holds as much of large bodies as may be in memory. The next large one is told to come back; small ones,
// and those that only say that they are large, take nothing, and what is over gives back what it took.
func TestBodyRoom(t *testing.T) {
	t.Parallel()
	const most = 64 << 10
	s := newStack(t, stackOptions{limits: config.Limits{MaxBody: most, MaxVerifyBody: most}})
	for path, room := range map[string]*atomic.Int64{"/v1/main/shuffles": &s.api.bodies,
		"/v1/verify": &s.api.evidence} {
		all := room.Load()
		post := func(body io.Reader) chan answer {
			done := make(chan answer, 1)
			go func() {
				a := ask{method: http.MethodPost, path: path, token: s.dealerToken, key: "k", body: body}
				resp, err := http.DefaultClient.Do(a.request(t, s.url))
				if err != nil {
					t.Error(err)
					done <- answer{}
					return
				}
				defer resp.Body.Close()
				b, _ := io.ReadAll(resp.Body)
				done <- answer{resp.StatusCode, resp.Header, b}
			}()
			return done
		}
		wait := func(left int64) {
			for room.Load() != left {
				time.Sleep(time.Millisecond) // until it has arrived; no test of time
			}
		}
		type upload struct {
			hold *io.PipeWriter
			done chan answer
		}
		var uploads []upload
		n := all / (most / 2)
		for i := range n {
			body, hold := io.Pipe()
			uploads = append(uploads, upload{hold, post(body)})
			io.WriteString(hold, strings.Repeat(" ", most/2))
			wait(all - (i+1)*most/2)
		}
		got := <-post(struct{ io.Reader }{strings.NewReader(strings.Repeat(" ", most/2))}) // of unknown length
		if got.want(t, CodeOverloaded, ""); got.header.Get("Retry-After") == "" {
			t.Errorf("%s: %v", path, got.header)
		}
		if got := <-post(strings.NewReader(`{"table":"t","deck":"short-36"}`)); got.status != http.StatusOK {
			t.Errorf("%s: a small one: %d %s", path, got.status, got.body)
		}
		for _, u := range uploads {
			u.hold.Close()
			if got := <-u.done; got.status == http.StatusServiceUnavailable {
				t.Errorf("%s: one of those: %s", path, got.body)
			}
		}
		wait(all)
	}
}

// TestTermsPerDay: an identity stores so many bytes of new documents in a day, with all its tokens together. Others
// are not counted, nor is what is stored already.
func TestTermsPerDay(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	put := func(token string, number int) answer {
		text := fmt.Sprint(number) + strings.Repeat("x", terms.MaxDocument-100)
		return s.do(ask{method: http.MethodPut, path: "/v1/main/terms", token: token,
			body: `{"kind":"pay_table","text":"` + text + `"}`})
	}
	s.api.termsBytes.spend(tokenKey{s.ledger.ID(), s.house().Identity}, termsPerDay-3*terms.MaxDocument, s.clock.Now())
	stored := 0
	for ; stored < 10; stored++ {
		if got := put(s.dealerToken, stored); got.status != http.StatusOK {
			got.want(t, CodeRateLimited, "")
			if said := value(got.problem(t).Detail); !strings.Contains(said, "16 MiB of new documents of terms") {
				t.Errorf("the refusal says %q", said)
			}
			break
		}
	}
	if stored < 3 || stored > 4 { // a document is a little smaller than the largest
		t.Errorf("%d documents were stored", stored)
	}
	put(s.tableToken, stored).want(t, CodeRateLimited, "") // another token of the identity
	for name, got := range map[string]answer{"again": put(s.dealerToken, 0), "of another": put(s.otherToken, -1)} {
		if got.status != http.StatusOK {
			t.Errorf("%s: %d %s", name, got.status, cut(got.body))
		}
	}
	s.clock.add(24 * time.Hour)
	if got := put(s.dealerToken, stored); got.status != http.StatusOK {
		t.Errorf("a day later: %d %s", got.status, cut(got.body))
	}
}

// TestBatchExamples sends the contract's examples of a batch. The example of the same name
// among the answers has the same statuses, members and codes.
func TestBatchExamples(t *testing.T) {
	t.Parallel()
	op := loadContract(t).Paths.Find("/v1/{ledger}/batch").Post
	answers := op.Responses.Value("200").Value.Content["application/json"].Examples
	s := newStack(t, stackOptions{})
	asked := op.RequestBody.Value.Content["application/json"].Examples
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		body, err := json.Marshal(asked[name].Value.Value)
		must(t, err)
		got := decodeAny(t, s.post("/v1/main/batch", "", string(body)).body)
		if answers[name] == nil {
			t.Errorf("%s has no answer among the examples", name)
			continue
		}
		text, err := json.Marshal(answers[name].Value.Value)
		must(t, err)
		if got, want := shape("", got), shape("", decodeAny(t, text)); got != want {
			t.Errorf("%s is answered with\n%s\nand in the example with\n%s", name, got, want)
		}
	}
	if len(asked) != 5 || len(answers) != 6 {
		t.Errorf("%d examples of requests and %d of answers", len(asked), len(answers))
	}
}

// shape are the members of a value, with the numbers and words that do not hang on a tape.
func shape(name string, v any) (out string) {
	switch v := v.(type) {
	case map[string]any:
		for _, member := range slices.Sorted(maps.Keys(v)) {
			if member != "detail" {
				out += " " + member + shape(member, v[member])
			}
		}
		return "{" + out + " }"
	case []any:
		if name == "proof" {
			return ""
		}
		for _, e := range v {
			out += shape(name, e)
		}
		return "[" + out + "]"
	}
	if slices.Contains([]string{"status", "code", "title", "field", "place", "next", "table", "purpose"}, name) {
		return fmt.Sprint(":", v)
	}
	return ""
}
