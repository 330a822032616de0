package httpapi

import (
	"net"
	"net/netip"
	"sync"
)

// Limit returns a listener that accepts as many connections at a time as the limits allow,
// and of one address its share. Connections above that are closed without an answer: a
// client that takes more than its share would not wait for one.
func (s *Server) Limit(l net.Listener) net.Listener {
	return &limited{Listener: l, open: s.connections, refused: s.metrics.connections.Inc}
}

// limited is a listener with a limit. netutil.LimitListener does not do: it knows no
// addresses, so one address could take every connection, and the others would wait.
type limited struct {
	net.Listener
	open    *fairQueue[netip.Prefix]
	refused func()
}

// Accept waits for the next connection within the limits.
func (l *limited) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		from := prefix(conn.RemoteAddr().String())
		if l.open.try(from, 1) {
			return &counted{Conn: conn, leave: sync.OnceFunc(func() { l.open.leave(from) })}, nil
		}
		l.refused()
		conn.Close()
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
