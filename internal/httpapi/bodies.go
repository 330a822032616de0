package httpapi

import (
	"errors"
	"io"
	"net/http"
	"sync/atomic"
)

// smallBody is the size in bytes up to which a body of stated length does not count
// against a quota: the number of requests bounds these bodies.
const smallBody = 8 << 10

// errNoRoom: the quota of bytes in memory, of all bodies together, is spent.
var errNoRoom = errors.New("the memory for request bodies is full")

// limitBody bounds the size of the call's body, and counts it against the quota of all
// bodies. The caller calls release at the end of the request.
func (s *Server) limitBody(c *call) (release func(), err error) {
	limit, quota := int64(s.cfg.Limits.MaxBody), &s.bodies
	if c.price.large {
		limit, quota = int64(s.cfg.Limits.MaxVerifyBody), &s.evidence
	}
	if c.r.ContentLength > limit {
		return nil, refuse(CodeBodyTooLarge)
	}
	// net/http closes the connection of a body that is too long, if it can see its own writer.
	c.r.Body = http.MaxBytesReader(c.w.ResponseWriter, c.r.Body, limit)
	if c.r.ContentLength >= 0 && c.r.ContentLength <= smallBody {
		return func() {}, nil
	}
	body := &countedBody{ReadCloser: c.r.Body, quota: quota}
	c.r.Body = body
	return body.release, nil
}

// countedBody is a body that counts against a byte quota: how many bytes of bodies may be in memory at a time. They
// count as they arrive: a body that is only announced takes nothing from others. It belongs to the request's goroutine.
type countedBody struct {
	io.ReadCloser
	quota *atomic.Int64 // bytes that are left
	took  int64
}

// Read reads, and fails with errNoRoom when the quota is spent.
func (m *countedBody) Read(p []byte) (n int, err error) {
	n, err = m.ReadCloser.Read(p)
	m.took += int64(n)
	if m.quota.Add(-int64(n)) < 0 {
		return n, errNoRoom
	}
	return n, err
}

// release gives back what was taken.
func (m *countedBody) release() { m.quota.Add(m.took) }
