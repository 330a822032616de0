package witness_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	fnote "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/witness"
	"shuffled/internal/witness/gateway"
	"shuffled/internal/witness/witnesstest"
)

// TestClient is our client against our witness.
func TestClient(t *testing.T) {
	l := newTestLog(t, "example.org/log", "log")
	unknown, thief := newTestLog(t, "example.org/unknown", "log"), newTestLog(t, "example.org/log", "thief")
	w := witnesstest.Start(t, l.vkey)
	c, ctx := w.Client(), t.Context()

	if _, err := c.Latest(ctx, l.origin); !errors.Is(err, gateway.ErrNone) {
		t.Errorf("before the first: %v", err)
	}
	for _, step := range [][2]int64{{0, 5}, {5, 5}, {5, 200}} {
		lines, err := c.AddCheckpoint(ctx, uint64(step[0]), l.proof(step[0], step[1]), l.signed(step[1]))
		if err != nil {
			t.Fatal(err)
		}
		latest, err := c.Latest(ctx, l.origin)
		if err != nil || !bytes.Equal(latest, join(l.signed(step[1]), lines)) {
			t.Errorf("%q, %v", latest, err)
		}
		// Lines of others travel along.
		if _, err := c.AddCheckpoint(ctx, uint64(step[1]), nil, latest); err != nil {
			t.Errorf("a cosigned checkpoint: %v", err)
		}
	}
	for _, c := range []struct {
		name        string
		l           *testLog
		old, size   int64
		conflict    uint64
		contradicts bool
	}{
		{"an old size below", l, 5, 300, 200, false},
		{"an old size above", l, 250, 300, 200, false},
		{"nothing known", l, 0, 300, 200, false},
		{"unknown log", unknown, 200, 300, 0, false},
		{"another key", thief, 200, 300, 0, false},
		{"a smaller tree", l, 200, 100, 0, false},
		{"a fork", l.forked(7), 200, 300, 0, true},
		{"a fork of the same size", l.forked(7), 200, 200, 0, true},
	} {
		lines, err := w.Client().AddCheckpoint(ctx, uint64(c.old), c.l.proof(c.old, c.size), c.l.signed(c.size))
		var conflict *gateway.Conflict
		if lines != nil || errors.As(err, &conflict) != (c.conflict > 0) ||
			errors.Is(err, gateway.ErrRefused) != (c.conflict == 0) ||
			errors.Is(err, gateway.ErrContradicts) != c.contradicts {
			t.Errorf("%s: %v", c.name, err)
		}
		if conflict != nil && conflict.Size != c.conflict {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	w.Down(true)
	_, err := c.AddCheckpoint(ctx, 200, nil, l.signed(200))
	if err == nil || errors.Is(err, gateway.ErrRefused) {
		t.Errorf("down: %v", err)
	}
	if _, err := c.Latest(ctx, l.origin); err == nil || errors.Is(err, gateway.ErrNone) {
		t.Errorf("down: %v", err)
	}
	w.Down(false)
	if _, err := c.AddCheckpoint(ctx, 200, nil, l.signed(200)); err != nil {
		t.Errorf("up again: %v", err)
	}
}

// said is a witness that says one thing.
func said(t *testing.T, status int, contentType string, body []byte) *witness.Client {
	t.Helper()
	return against(t, func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", contentType)
		rw.WriteHeader(status)
		rw.Write(body)
	})
}

func against(t *testing.T, f http.HandlerFunc) *witness.Client {
	t.Helper()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	return &witness.Client{URL: server.URL,
		Keys: []note.Verifier{openWitness(t, t.TempDir(), nil, newTestLog(t, "example.org/x", "x").vkey).key}}
}

// TestClientReadsAnswers puts every kind of answer before the client.
func TestClientReadsAnswers(t *testing.T) {
	l := newTestLog(t, "example.org/log", "log")
	w := openWitness(t, t.TempDir(), nil, l.vkey)
	line := string(w.must(l, 0, 3))
	foreign := strings.TrimPrefix(string(sign(t, l.text(3), newTestLog(t, "foreign.example.org/w", "foreign").signer)),
		l.text(3)+"\n")
	l4 := string(w.must(l, 3, 4))  // of another checkpoint
	more := l.text(3) + "\nmore\n" // begins like the checkpoint, and is another text
	moreLine := strings.TrimPrefix(string(sign(t, more, cosigner(t))), more+"\n")
	long := "— x " + strings.Repeat("AAAA", 250) + "\n"
	// Lines whose last byte is the first beyond the limit of 64 KiB.
	cut := line + strings.Repeat(long, 60)
	rest := 1<<16 + 1 - len(cut) - len("— x \n")
	cut += "— x" + strings.Repeat("x", rest%4) + " " + strings.Repeat("AAAA", rest/4) + "\n"
	const plain, size = "text/plain", "text/x.tlog.size"
	const (
		accepted = iota
		transport
		refused
		contradicts
		conflict
	)
	for _, c := range []struct {
		name, contentType string
		status            int
		body              string
		want              int
	}{
		{"the line", plain, 200, line, accepted},
		{"no content type", "", 200, line, accepted},
		{"unknown lines around", plain, 200, foreign + line + foreign, accepted},
		{"the line twice", plain, 200, line + line, accepted},
		{"only unknown lines", plain, 200, foreign, transport},
		{"nothing", plain, 200, "", transport},
		{"of another checkpoint", plain, 200, l4, transport},
		{"no line end", plain, 200, strings.TrimSuffix(line, "\n"), transport},
		{"a blank line before", plain, 200, "\n" + line, transport},
		{"a blank line after", plain, 200, line + "\n", transport},
		{"text and a blank line before", plain, 200, "text\n\n" + line, transport},
		{"a whole note", plain, 200, w.latest(l.origin), transport},
		{"of a text that begins the same", plain, 200, "more\n\n" + moreLine, transport},
		{"long lines", plain, 200, strings.Repeat(long, 60) + line, accepted},
		{"too many long lines", plain, 200, strings.Repeat(long, 70) + line, transport},
		{"cut at a line end", plain, 200, cut + long, transport},
		{"HTML", "text/html", 200, "<html>" + line, transport},
		{"101 lines", plain, 200, strings.Repeat(foreign, 100) + line, transport},
		{"a broken line of the key", plain, 200, line[:len(line)-8] + "AAAAAA==\n", transport},
		{"too long", plain, 200, line + strings.Repeat("x", 1<<20), transport},
		{"created", plain, 201, line, transport},
		{"no content", plain, 204, "", transport},
		{"moved", plain, 301, "", transport},
		{"bad request", plain, 400, "root:x:0:0", refused},
		{"forbidden", plain, 403, "no", refused},
		{"forbidden at length", plain, 403, strings.Repeat("no", 20_000), refused},
		{"not found", plain, 404, "no", refused},
		{"unprocessable", plain, 422, "no", contradicts},
		{"conflict", size, 409, "7\n", conflict},
		{"conflict from zero", size, 409, "0\n", conflict},
		{"conflict with the size sent", size, 409, "3\n", contradicts},
		{"conflict in words", plain, 409, "root:x:0:0", contradicts},
		{"conflict of another type", plain, 409, "7\n", contradicts},
		{"conflict without line end", size, 409, "7", contradicts},
		{"conflict with a leading zero", size, 409, "07\n", contradicts},
		{"conflict with a sign", size, 409, "+7\n", contradicts},
		{"conflict beyond 2^53", size, 409, "9007199254740992\n", contradicts},
		{"too many", plain, 429, "no", transport},
		{"failed", plain, 500, "root:x:0:0", transport},
		{"unavailable", plain, 503, "no", transport},
	} {
		client := said(t, c.status, c.contentType, []byte(c.body))
		lines, err := client.AddCheckpoint(t.Context(), 3, nil, l.signed(3))
		got := transport
		var size *gateway.Conflict
		switch {
		case err == nil:
			got = accepted
		case errors.As(err, &size):
			got = conflict
		case errors.Is(err, gateway.ErrContradicts):
			got = contradicts
		case errors.Is(err, gateway.ErrRefused):
			got = refused
		}
		if got != c.want {
			t.Errorf("%s: %v", c.name, err)
		}
		if err == nil && string(lines) != line {
			t.Errorf("%s: returned %q", c.name, lines)
		}
		if err != nil && len(err.Error()) > 1000 {
			t.Errorf("%s: an error of %d bytes", c.name, len(err.Error()))
		}
		if err != nil && c.status != http.StatusOK && strings.Contains(err.Error(), c.body) && len(c.body) > 8 {
			t.Errorf("%s: the answer is repeated: %v", c.name, err)
		}
	}
}

// cosigner signs any text with the witness's key.
func cosigner(t *testing.T) note.Signer {
	t.Helper()
	key := seeded("witness")
	text := "PRIVATE+KEY+" + witnessName + "+00000000+" +
		base64.StdEncoding.EncodeToString(append([]byte{4}, key.Seed()...))
	s, err := fnote.NewSignerForCosignatureV1(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestClientReadsNoMore has a witness that never stops talking.
func TestClientReadsNoMore(t *testing.T) {
	l := newTestLog(t, "example.org/log", "log")
	endless := new(endless)
	c := against(t, func(http.ResponseWriter, *http.Request) {})
	c.HTTP = &http.Client{Transport: endless}
	if _, err := c.AddCheckpoint(t.Context(), 0, nil, l.signed(1)); err == nil || errors.Is(err, gateway.ErrRefused) {
		t.Errorf("endless: %v", err)
	}
	if endless.n > 1<<17 {
		t.Errorf("%d bytes read", endless.n)
	}
}

// endless is an answer without an end, limited for the sake of the test.
type endless struct{ n int }

func (e *endless) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(e)}, nil
}

func (e *endless) Read(b []byte) (int, error) {
	if e.n += len(b); e.n > 1<<24 {
		return 0, io.EOF
	}
	return len(b), nil
}

func TestClientLatest(t *testing.T) {
	l := newTestLog(t, "example.org/log", "log")
	other := newTestLog(t, "example.org/other", "other")
	w := openWitness(t, t.TempDir(), nil, l.vkey, other.vkey)
	w.must(l, 0, 3)
	w.must(other, 0, 3)
	newest := w.latest(l.origin)
	for _, c := range []struct {
		name   string
		status int
		body   string
		none   bool
	}{
		{"the checkpoint", 200, newest, false},
		{"none", 404, "", true},
		{"no such call", 405, "", true},
		{"not made", 501, "", true},
		{"gone", 410, "", true},
		{"another log's", 200, w.latest(other.origin), false},
		{"not cosigned", 200, string(l.signed(3)), false},
		{"another text", 200, strings.Replace(newest, "\n3\n", "\n4\n", 1), false},
		{"nothing", 200, "", false},
		{"huge", 200, newest + strings.Repeat("— x AAAAAAAA\n", 1<<16), false},
		{"forbidden", 403, "", false},
		{"moved", 302, "", false},
		{"failed", 500, "", false},
	} {
		got, err := said(t, c.status, "text/plain", []byte(c.body)).Latest(t.Context(), l.origin)
		if errors.Is(err, gateway.ErrNone) != c.none {
			t.Errorf("%s: %v", c.name, err)
		}
		if good := c.name == "the checkpoint"; good != (err == nil) || good && string(got) != newest {
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
	}
}

// TestClientRequests looks at what the client sends: exact addresses, one connection, and no redirect followed.
func TestClientRequests(t *testing.T) {
	l := newTestLog(t, "example.org/log", "log")
	w := openWitness(t, t.TempDir(), nil, l.vkey)
	var asked []string
	var connections atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.RequestURI())
		if strings.HasPrefix(r.URL.Path, "/moved") {
			http.Redirect(rw, r, "/w"+strings.TrimPrefix(r.URL.Path, "/moved"), http.StatusTemporaryRedirect)
			return
		}
		http.StripPrefix("/w", w.w).ServeHTTP(rw, r)
	}))
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	transport := new(http.Transport)
	defer transport.CloseIdleConnections()
	follows := &http.Client{Transport: transport}
	for _, prefix := range []string{"/w", "/w/"} {
		c := &witness.Client{URL: server.URL + prefix, Keys: []note.Verifier{w.key}, HTTP: follows}
		if _, err := c.AddCheckpoint(t.Context(), 0, nil, l.signed(3)); err != nil && prefix == "/w" {
			t.Fatal(err)
		}
		if _, err := c.Latest(t.Context(), l.origin); err != nil {
			t.Fatal(err)
		}
	}
	moved := &witness.Client{URL: server.URL + "/moved", Keys: []note.Verifier{w.key}, HTTP: follows}
	if _, err := moved.AddCheckpoint(t.Context(), 3, nil, l.signed(3)); err == nil {
		t.Error("a redirect is followed")
	}
	if _, err := moved.Latest(t.Context(), l.origin); err == nil || errors.Is(err, gateway.ErrNone) {
		t.Errorf("a redirect: %v", err)
	}
	m := monitoring(l.origin)
	want := []string{"POST /w/add-checkpoint", "GET /w" + m, "POST /w/add-checkpoint", "GET /w" + m,
		"POST /moved/add-checkpoint", "GET /moved" + m}
	if fmt.Sprint(asked) != fmt.Sprint(want) || connections.Load() != 1 {
		t.Errorf("over %d connections %q, want %q", connections.Load(), asked, want)
	}
}

func TestClientRefusesToAsk(t *testing.T) {
	l := newTestLog(t, "example.org/log", "log")
	c := against(t, func(rw http.ResponseWriter, r *http.Request) { t.Error("asked") })
	if _, err := c.AddCheckpoint(t.Context(), 0, nil, []byte("no note")); err == nil {
		t.Error("no note")
	}
	if _, err := c.AddCheckpoint(t.Context(), 1<<53, nil, l.signed(1)); err == nil {
		t.Error("a size beyond 2^53-1")
	}
	for _, url := range []string{"", "file:///etc/passwd", "witness.example.org", "://", "ftp://x",
		"https://me:word@w.example.org"} {
		c := &witness.Client{URL: url, Keys: c.Keys}
		if _, err := c.AddCheckpoint(t.Context(), 0, nil, l.signed(1)); err == nil ||
			errors.Is(err, gateway.ErrRefused) {
			t.Errorf("%q: %v", url, err)
		} else if strings.Contains(err.Error(), "word@") {
			t.Errorf("the password is repeated: %v", err)
		}
	}
}

// TestClientGivesUp ends with its context, even in the middle of an answer.
func TestClientGivesUp(t *testing.T) {
	l := newTestLog(t, "example.org/log", "log")
	for _, begin := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		c := against(t, func(rw http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body) // or the server does not see the client go
			if begin {
				rw.Write([]byte("— "))
				rw.(http.Flusher).Flush()
			}
			cancel()
			<-r.Context().Done()
		})
		if _, err := c.AddCheckpoint(ctx, 0, nil, l.signed(1)); !errors.Is(err, context.Canceled) {
			t.Errorf("answer begun: %v: %v", begin, err)
		}
	}
}

var _ interface {
	AddCheckpoint(ctx context.Context, old uint64, proof []tlog.Hash, checkpoint []byte) ([]byte, error)
	Latest(ctx context.Context, origin string) ([]byte, error)
} = (*witness.Client)(nil)
