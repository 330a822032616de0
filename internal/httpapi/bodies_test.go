package httpapi

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"shuffled/internal/config"
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
