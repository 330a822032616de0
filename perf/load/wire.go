package load

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httputil"
	"strconv"
	"time"
)

// wire is one connection with the part of HTTP/1.1 (RFC 9112) that one request at a time needs. It belongs to one
// goroutine. Compared with a transport of net/http, which has two more goroutines and a map for each call, it uses a
// fraction of the processor time (BenchmarkCall), which the daemon needs on a shared machine.
type wire struct {
	dial    func(context.Context) (net.Conn, error)
	tls     *tls.Config // nil: none
	timeout time.Duration

	conn   net.Conn // nil: not connected
	in     *bufio.Reader
	answer []byte
}

// maxAnswer bounds an answer. The largest is that to a batch of MaxBatch hands.
const maxAnswer = 8 << 20

// reply is an answer. Its body is valid until the next call.
type reply struct {
	status int
	after  time.Duration // of Retry-After; negative without one
	body   []byte
}

// call sends a request, whole, and reads the answer. After an error the next call connects again.
func (w *wire) call(ctx context.Context, request []byte) (reply, error) {
	if err := w.connect(ctx); err != nil {
		return reply{}, err
	}
	w.conn.SetDeadline(time.Now().Add(w.timeout))
	if _, err := w.conn.Write(request); err != nil {
		w.close()
		return reply{}, fmt.Errorf("sending the request: %w", err)
	}
	r, keep, err := w.read()
	if err != nil || !keep {
		w.close()
	}
	if err != nil {
		err = fmt.Errorf("reading the answer: %w", err)
	}
	return r, err
}

// dialer connects to one address.
type dialer struct {
	net.Dialer
	address string
}

func (d *dialer) dial(ctx context.Context) (net.Conn, error) {
	return d.DialContext(ctx, "tcp", d.address)
}

func (w *wire) connect(ctx context.Context) error {
	if w.conn != nil {
		return nil
	}
	conn, err := w.dial(ctx)
	if err != nil {
		return fmt.Errorf("connecting: %w", err)
	}
	if w.tls != nil {
		conn = tls.Client(conn, w.tls) // does the handshake with the first write
	}
	w.conn = conn
	if w.in == nil {
		w.in = bufio.NewReaderSize(conn, 16<<10)
	} else {
		w.in.Reset(conn)
	}
	return nil
}

func (w *wire) close() {
	if w.conn != nil {
		w.conn.Close()
		w.conn = nil
	}
}

// head has the relevant fields of an answer's header.
type head struct {
	reply
	length  int64 // of the body; negative without Content-Length
	chunked bool
	keep    bool // the connection stays
}

// read reads an answer; keep is false if the connection cannot be used any more.
func (w *wire) read() (r reply, keep bool, err error) {
	h, err := w.header()
	for err == nil && h.status < 200 { // an interim answer (RFC 9110 section 15.2)
		h, err = w.header()
	}
	if err != nil {
		return reply{}, false, err
	}
	switch {
	case h.status == 204 || h.status == 304:
		w.answer = w.answer[:0]
	case h.chunked:
		if w.answer, err = io.ReadAll(io.LimitReader(httputil.NewChunkedReader(w.in), maxAnswer+1)); err == nil {
			err = w.trailer()
		}
	case h.length >= 0:
		if h.length > maxAnswer {
			return reply{}, false, errLong
		}
		if int64(cap(w.answer)) < h.length {
			w.answer = make([]byte, h.length)
		}
		w.answer = w.answer[:h.length]
		_, err = io.ReadFull(w.in, w.answer)
	default: // up to the connection's end
		h.keep = false
		w.answer, err = io.ReadAll(io.LimitReader(w.in, maxAnswer+1))
	}
	if err == nil && len(w.answer) > maxAnswer {
		err = errLong
	}
	h.body = w.answer
	return h.reply, h.keep, err
}

var (
	errLong = fmt.Errorf("more than %d bytes", maxAnswer)
	errHTTP = errors.New("it is not HTTP/1.1")
)

// header reads a status line and the fields after it.
func (w *wire) header() (head, error) {
	line, err := w.line()
	if err != nil {
		return head{}, err
	}
	// HTTP/1.1 200 OK
	if len(line) < 12 || !bytes.HasPrefix(line, []byte("HTTP/1.")) || line[8] != ' ' {
		return head{}, errHTTP
	}
	status, err := strconv.Atoi(string(line[9:12]))
	if err != nil {
		return head{}, errHTTP
	}
	h := head{reply: reply{status: status, after: -1}, length: -1, keep: line[7] == '1'}
	for {
		if line, err = w.line(); err != nil || len(line) == 0 {
			return h, err
		}
		name, value, found := bytes.Cut(line, []byte(":"))
		if !found {
			return h, errHTTP
		}
		if err := h.field(name, bytes.TrimSpace(value)); err != nil {
			return h, err
		}
	}
}

func (h *head) field(name, value []byte) error {
	switch {
	case is(name, "content-length"):
		n, err := strconv.ParseUint(string(value), 10, 31)
		if err != nil {
			return errHTTP
		}
		h.length = int64(n)
	case is(name, "transfer-encoding"):
		if !is(value, "chunked") {
			return errHTTP
		}
		h.chunked = true
	case is(name, "connection"):
		if is(value, "close") {
			h.keep = false
		}
	case is(name, "retry-after"):
		if n, err := strconv.ParseUint(string(value), 10, 31); err == nil {
			h.after = time.Duration(n) * time.Second
		}
	}
	return nil
}

// is compares without regard to case; lower is in lower case.
func is(b []byte, lower string) bool {
	return len(b) == len(lower) && bytes.EqualFold(b, []byte(lower))
}

// line reads a line without its end.
func (w *wire) line() ([]byte, error) {
	line, err := w.in.ReadSlice('\n')
	if err == io.EOF && len(line) > 0 {
		err = io.ErrUnexpectedEOF
	}
	return bytes.TrimRight(line, "\r\n"), err
}

// trailer skips what follows the last chunk.
func (w *wire) trailer() error {
	for {
		if line, err := w.line(); err != nil || len(line) == 0 {
			return err
		}
	}
}
