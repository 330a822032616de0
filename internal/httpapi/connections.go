package httpapi

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// Limit returns a listener that hands on as many connections at a time as the
// limits say, of one address its share. Those above are told to come back and
// closed; with quiet, closed without a word, as a listener for TLS must.
func (s *Server) Limit(l net.Listener, quiet bool) net.Listener {
	return &limited{Listener: l, quiet: quiet, open: s.connections, refused: s.metrics.connections.Inc, parting: make(gate, maxParting)}
}

// maxParting is how many connections above the limit are waited for until they
// have read why they are closed, and partingTime for how long.
const (
	maxParting  = 64
	partingTime = time.Second
)

// limited is a listener with a limit.
type limited struct {
	net.Listener
	quiet   bool
	open    *crowd[netip.Prefix]
	refused func()
	parting gate
}

// Accept waits for the next connection within the limits.
func (l *limited) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		from := prefix(conn.RemoteAddr().String())
		if l.open.enter(from) {
			return &counted{Conn: conn, leave: sync.OnceFunc(func() { l.open.leave(from) })}, nil
		}
		l.refused()
		if l.quiet || !l.parting.enter() {
			conn.Close()
			continue
		}
		go func() {
			defer l.parting.leave()
			part(conn)
		}()
	}
}

// part says why a connection is closed, reads what the caller has to say, without
// which the answer could be lost, and closes it.
func part(conn net.Conn) {
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(partingTime))
	status, body := problems[CodeOverloaded].status, plainProblems[CodeOverloaded]
	fmt.Fprintf(conn, "HTTP/1.1 %d %s\r\nContent-Type: application/problem+json\r\nCache-Control: no-store\r\nRetry-After: %d\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s",
		status, http.StatusText(status), retryAfter, len(body), body)
	if half, ok := conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		io.Copy(io.Discard, io.LimitReader(conn, maxHeader))
	}
}

// counted is a connection that gives its place back when it is closed.
type counted struct {
	net.Conn
	leave func()
}

// Close closes the connection.
func (c *counted) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
