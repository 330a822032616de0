package httpapi

import (
	"bufio"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"shuffled/internal/config"
)

// TestConnectionLimit: one address has half of the connections, whatever it does
// with them. The next ones are closed, and a place that is given back is had again.
func TestConnectionLimit(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{limits: config.Limits{Connections: 8}})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	server := NewHTTPServer(s.api, s.api.cfg.Limits, s.api.cfg.Log)
	done := make(chan error, 1)
	go func() { done <- server.Serve(s.api.Limit(l)) }()
	t.Cleanup(func() { server.Close(); <-done })
	dial := func(from string) net.Conn {
		t.Helper()
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
		conn, err := d.Dial("tcp", l.Addr().String())
		must(t, err)
		t.Cleanup(func() { conn.Close() })
		conn.SetDeadline(time.Now().Add(30 * time.Second))
		return conn
	}
	ask := func(conn net.Conn) *http.Response {
		t.Helper()
		fmt.Fprintf(conn, "GET /openapi.yaml HTTP/1.1\r\nHost: x\r\n\r\n")
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		must(t, err)
		return resp
	}
	var held []net.Conn
	for i := range 4 {
		conn := dial("127.0.0.2")
		if resp := ask(conn); resp.StatusCode != http.StatusOK {
			t.Errorf("connection %d: %s", i, resp.Status)
		}
		held = append(held, conn)
	}
	for range 3 {
		if n, err := dial("127.0.0.2").Read(make([]byte, 1)); n > 0 || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("above the limit: %d bytes, %v", n, err)
		}
	}
	if resp := ask(dial("127.0.0.3")); resp.StatusCode != http.StatusOK {
		t.Errorf("another address: %s", resp.Status)
	}
	figures := string(operator(t, s, "/metrics").body)
	for _, want := range []string{"shuffled_http_connections 5", "shuffled_http_refused_connections_total 3"} {
		if !strings.Contains(figures, want) {
			t.Errorf("no %s in the metrics", want)
		}
	}
	held[0].Close()
	for s.api.connections.inside(8) > 4 {
		time.Sleep(time.Millisecond) // until it is noticed; no test of time
	}
	if resp := ask(dial("127.0.0.2")); resp.StatusCode != http.StatusOK {
		t.Errorf("a place that was given back: %s", resp.Status)
	}
}

// TestStreams: what one address can leave unread over HTTP/2 fits in memory. Each
// answer that cannot be sent took 17.6 KB (a client with a window of 0).
func TestStreams(t *testing.T) {
	t.Parallel()
	l := config.Default().Limits
	streams := NewHTTPServer(nil, config.Limits{}, slog.New(slog.DiscardHandler)).HTTP2.MaxConcurrentStreams
	if stuck := streams * l.Connections / 2 * 17_600; streams < 1 || stuck > 1<<30 {
		t.Errorf("%d streams: %d bytes", streams, stuck)
	}
}
