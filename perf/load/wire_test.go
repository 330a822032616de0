package load

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// serve answers each connection with what answer writes after each request, and
// closes it if answer returns false.
func serve(t testing.TB, answer func(w io.Writer, request string) bool) (address string,
	dial func(context.Context) (net.Conn, error)) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go answerAll(conn, answer)
		}
	}()
	return l.Addr().String(), to(l.Addr())
}

func to(address net.Addr) func(context.Context) (net.Conn, error) {
	return (&dialer{address: address.String()}).dial
}

func answerAll(conn net.Conn, answer func(w io.Writer, request string) bool) {
	defer conn.Close()
	r := bufio.NewReader(conn)
	for {
		var text bytes.Buffer
		length := 0
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			text.WriteString(line)
			if name, value, _ := strings.Cut(line, ":"); strings.EqualFold(name, "content-length") {
				length, _ = strconv.Atoi(strings.TrimSpace(value))
			}
			if line == "\r\n" {
				break
			}
		}
		if _, err := io.CopyN(&text, r, int64(length)); err != nil || !answer(conn, text.String()) {
			return
		}
	}
}

// TestWire reads answers as servers and proxies write them.
func TestWire(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		status int
		after  time.Duration
		body   string
		stays  bool
		fails  bool
	}{
		"with a length": {answer: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX: y\r\n\r\nhi", status: 200,
			after: -1, body: "hi", stays: true},
		"header in lower case": {answer: "HTTP/1.1 200 OK\r\ncontent-length:2\r\n\r\nhi", status: 200, after: -1,
			body: "hi", stays: true},
		"in chunks":       {answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nh\r\n1\r\ni\r\n0\r\nTrailer: x\r\n\r\n", status: 200, after: -1, body: "hi", stays: true},
		"interim answers": {answer: "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", status: 200, after: -1, body: "hi", stays: true},
		"told to wait": {answer: "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n",
			status: 503, after: 7 * time.Second, stays: true},
		"without a body": {answer: "HTTP/1.1 204 No Content\r\n\r\n", status: 204, after: -1, stays: true},
		"connection ends": {answer: "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi",
			status: 200, after: -1, body: "hi"},
		"of HTTP/1.0": {answer: "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", status: 200, after: -1,
			body: "hi"},
		"up to the end":       {answer: "HTTP/1.1 200 OK\r\n\r\nhi", status: 200, after: -1, body: "hi"},
		"cut off":             {answer: "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nhi", fails: true},
		"cut off in a line":   {answer: "HTTP/1.1 200", fails: true},
		"endless":             {answer: "HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\nhi", fails: true},
		"negative":            {answer: "HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nhi", fails: true},
		"not HTTP":            {answer: "SSH-2.0-OpenSSH_9.2p1\r\n", fails: true},
		"a header of no form": {answer: "HTTP/1.1 200 OK\r\nhello\r\n\r\n", fails: true},
		"a header too long": {answer: "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("y", 20<<10) + "\r\n\r\n",
			fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			connections := new(atomic.Int32)
			_, dial := serve(t, func(w io.Writer, request string) bool {
				if request != "POST / HTTP/1.1\r\nContent-Length: 1\r\n\r\nx" {
					t.Errorf("the request is %q", request)
				}
				connections.Add(1)
				io.WriteString(w, c.answer)
				return c.stays
			})
			w := &wire{dial: dial, timeout: 10 * time.Second}
			defer w.close()
			for range 2 { // the second on the same connection, or another
				r, err := w.call(t.Context(), []byte("POST / HTTP/1.1\r\nContent-Length: 1\r\n\r\nx"))
				if c.fails {
					if err == nil || w.conn != nil {
						t.Errorf("it is read as %d %q, and the connection is %v", r.status, r.body, w.conn)
					}
					continue
				}
				if err != nil || r.status != c.status || r.after != c.after || string(r.body) != c.body ||
					(w.conn != nil) != c.stays {
					t.Errorf("it is %d, after %v, %q, stays %t: %v", r.status, r.after, r.body, w.conn != nil, err)
				}
			}
		})
	}
}

// TestWireTLS calls a server of the standard library over TLS, and one with an
// untrusted certificate.
func TestWireTLS(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		w.Write(append([]byte(r.Proto+" "), b...))
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	trusted := s.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	trusted.NextProtos = []string{"http/1.1"}
	trusted.ServerName = "example.com"
	request := []byte("POST / HTTP/1.1\r\nHost: example.com\r\nContent-Length: 2\r\n\r\nhi")
	w := &wire{dial: to(s.Listener.Addr()), tls: trusted, timeout: 10 * time.Second}
	defer w.close()
	for range 2 {
		if r, err := w.call(t.Context(), request); err != nil || string(r.body) != "HTTP/1.1 hi" {
			t.Errorf("%q, %v", r.body, err)
		}
	}
	w = &wire{dial: w.dial, tls: &tls.Config{ServerName: "example.com"}, timeout: 10 * time.Second}
	if r, err := w.call(t.Context(), request); err == nil {
		t.Errorf("a certificate that nobody vouches for: %q", r.body)
	}
}

// BenchmarkCall compares a call over wire with one over net/http, each on a
// connection of its own and with an answer of a commit's size. The processor time
// includes that of the server, which is the same for both.
func BenchmarkCall(b *testing.B) {
	answer := []byte("HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 1400\r\nContent-Type: application/json\r\nRequest-Id: dn1g53cqik58-1\r\n" +
		"X-Content-Type-Options: nosniff\r\nDate: Sun, 22 Nov 2026 04:14:53 GMT\r\n\r\n" + strings.Repeat("x", 1400))
	address, dial := serve(b, func(w io.Writer, _ string) bool {
		_, err := w.Write(answer)
		return err == nil
	})
	const body = `{"table":"bench-1","deck":"standard-52"}`
	request := []byte("POST /v1/main/shuffles HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer tok_x.y\r\nContent-Type: application/json\r\nIdempotency-Key: k\r\nContent-Length: " +
		strconv.Itoa(len(body)) + "\r\n\r\n" + body)
	measure := func(b *testing.B, worker func() (call func() error, end func())) {
		b.SetParallelism(32)
		before := cpuTime()
		b.RunParallel(func(p *testing.PB) {
			call, end := worker()
			defer end()
			for p.Next() {
				if err := call(); err != nil {
					b.Error(err)
					return
				}
			}
		})
		b.ReportMetric(float64((cpuTime()-before).Microseconds())/float64(b.N), "cpu-µs/op")
	}
	b.Run("wire", func(b *testing.B) {
		measure(b, func() (func() error, func()) {
			w := &wire{dial: dial, timeout: 10 * time.Second}
			return func() error { _, err := w.call(b.Context(), request); return err }, w.close
		})
	})
	b.Run("net/http", func(b *testing.B) {
		client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1024}}
		defer client.CloseIdleConnections()
		measure(b, func() (func() error, func()) {
			return func() error {
				req, err := http.NewRequest(http.MethodPost, "http://"+address+"/v1/main/shuffles",
					strings.NewReader(body))
				if err != nil {
					return err
				}
				req.Header.Set("Authorization", "Bearer tok_x.y")
				req.Header.Set("Content-Type", "application/json")
				req.Header.Set("Idempotency-Key", "k")
				resp, err := client.Do(req)
				if err != nil {
					return err
				}
				defer resp.Body.Close()
				_, err = io.ReadAll(resp.Body)
				return err
			}, func() {}
		})
	})
}
