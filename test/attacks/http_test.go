package attacks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// answer is an answer of the daemon.
type answer struct {
	status int
	body   []byte
}

// code returns the code of a problem document, "" if the answer is none.
func (a answer) code() string {
	var p struct{ Code string }
	if a.status < 400 || json.Unmarshal(a.body, &p) != nil {
		return ""
	}
	return p.Code
}

func (a answer) String() string {
	return fmt.Sprintf("%d %s", a.status, a.body[:min(len(a.body), 240)])
}

// object reads the body as a JSON object.
func (a answer) object(t *testing.T) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(a.body, &m); err != nil {
		t.Fatalf("%v: %s", err, a)
	}
	return m
}

var client = &http.Client{Timeout: patience, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}

// do makes one request. Status 0 means that no answer came; the body is then the error.
func (h *house) do(method, path, token, key, body string) answer {
	h.t.Helper()
	req, err := http.NewRequestWithContext(h.t.Context(), method, h.url+path, strings.NewReader(body))
	h.check(err)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := client.Do(req)
	if err != nil {
		return answer{body: []byte(err.Error())}
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return answer{body: []byte(err.Error())}
	}
	return answer{resp.StatusCode, b}
}

func (h *house) get(path, token string) answer {
	h.t.Helper()
	return h.do(http.MethodGet, path, token, "", "")
}

func (h *house) post(path, token, body string) answer {
	h.t.Helper()
	return h.do(http.MethodPost, path, token, "", body)
}

// ok checks that a request that is no attack was answered with 200.
func (h *house) ok(a answer) answer {
	h.t.Helper()
	if a.status != http.StatusOK {
		h.t.Fatalf("what is no attack was refused: %s", a)
	}
	return a
}

// refused checks that an attack was refused with one of the codes, such as not_yours.
func (h *house) refused(what string, a answer, codes ...string) {
	h.t.Helper()
	for _, code := range codes {
		if a.code() == code {
			return
		}
	}
	h.t.Errorf("%s: %s; the defence is a refusal with code %s", what, a, strings.Join(codes, " or "))
}

// commit commits to a shuffle of 52 cards at a table, under the idempotency key.
func (h *house) commit(token, key, table string) answer {
	h.t.Helper()
	return h.do(http.MethodPost, "/v1/main/shuffles", token, key,
		fmt.Sprintf(`{"table":%q,"deck":"standard-52"}`, table))
}

// hand commits as the house, and returns the path of the shuffle.
func (h *house) hand(key, table string) string {
	h.t.Helper()
	return h.shuffle(h.ok(h.commit(h.house, key, table)))
}

// shuffle returns the path of the shuffle that an answer to a commit names.
func (h *house) shuffle(a answer) string {
	h.t.Helper()
	return fmt.Sprintf("/v1/main/shuffles/%.0f", a.object(h.t)["id"])
}

const (
	holeCards = `{"first":0,"runs":[{"count":2,"purpose":"seat","recipient":"seat-1"},
		{"count":2,"purpose":"seat","recipient":"seat-2"}]}`
	flop      = `{"first":4,"runs":[{"count":1,"purpose":"burn"},{"count":3,"purpose":"board","public":true}]}`
	completed = `{"outcome":"completed"}`
)

// settled repeats a request for as long as it is refused because the witnesses have not
// cosigned yet, and returns the first other answer.
func (h *house) settled(path, token, body string) (a answer) {
	h.t.Helper()
	h.daemon.until("done with "+path, func() bool {
		a = h.post(path, token, body)
		return a.code() != "cosigned"
	})
	return a
}

// keep writes a shuffle's transcript, as a stranger gets it, to a file, and returns its path.
func (h *house) keep(shuffle, name string) string {
	h.t.Helper()
	h.write(name, string(bytes.TrimSpace(h.ok(h.get(shuffle+"/transcript", "")).body)))
	return h.path(name)
}
