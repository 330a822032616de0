package testdb

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// A Fault is what a [Proxy] does to one statement that is a transaction of its own: a group of messages that executes
// something and ends with Sync, at which the server commits.
type Fault int

const (
	Pass         Fault = iota // nothing
	LoseRequest               // the connection is cut; nothing of the group reached the server
	LoseSync                  // the same, but all except the Sync did: the server rolls back
	LoseBoth                  // cut when all of it was sent: it may arrive or not
	LoseReply                 // cut when the reply begins
	LoseRow                   // cut in the middle of the reply's row
	LoseComplete              // cut before CommandComplete
	LoseReady                 // cut between CommandComplete and ReadyForQuery
	LoseEnd                   // cut before the last byte of ReadyForQuery
	HoldReply                 // no reply, ever; the connection stays open until the client gives up
	DelayRequest              // passed on after a while
	DelayReply                // the same for the reply
	faults
)

var faultNames = [faults]string{"pass", "request lost", "sync lost", "cut after the request", "reply lost",
	"cut in the row",
	"cut before CommandComplete", "cut before ReadyForQuery", "cut in ReadyForQuery", "reply held", "request delayed",
	"reply delayed"}

func (f Fault) String() string { return faultNames[f] }

// delay is the length of a delay: longer than an append takes, shorter than a caller waits.
const delay = 20 * time.Millisecond

// A Proxy sits between a client and a server, reads their messages, and does faults to some of them.
type Proxy struct {
	// DSN is the address of the database, through the proxy.
	DSN string

	// Fault, if it is set, decides what happens to a statement. Set it before the first connection. Several goroutines
	// call it.
	Fault func(sql string) Fault
	// Rewrite, if it is set, changes a statement before it is prepared.
	Rewrite func(sql string) string

	listener net.Listener
	served   sync.WaitGroup // the listener and all connections

	struck [faults]atomic.Int64
	cuts   atomic.Int64

	mu     sync.Mutex
	target string
	closed bool
	open   map[net.Conn]bool
}

// NewProxy starts a proxy in front of the server of dsn, until the test ends.
func NewProxy(t testing.TB, dsn string) *Proxy {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatalf("testdb: %v", err)
	}
	p := &Proxy{target: u.Host, open: make(map[net.Conn]bool)}
	if p.listener, err = net.Listen("tcp4", "127.0.0.1:0"); err != nil {
		t.Fatalf("testdb: starting a proxy: %v", err)
	}
	u.Host = p.listener.Addr().String()
	p.DSN = u.String()
	t.Cleanup(p.close)
	p.served.Go(func() {
		for {
			client, err := p.listener.Accept()
			if err != nil {
				return
			}
			p.served.Go(func() { p.serve(client) })
		}
	})
	return p
}

// Aim puts the proxy in front of another server, like an address that moves. It cuts the connections to the first
// server.
func (p *Proxy) Aim(t testing.TB, dsn string) {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatalf("testdb: %v", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target = u.Host
	for c := range p.open {
		c.Close()
	}
}

// Struck returns how often a fault happened.
func (p *Proxy) Struck(f Fault) int { return int(p.struck[f].Load()) }

func (p *Proxy) close() {
	p.listener.Close()
	p.mu.Lock()
	p.closed = true
	for c := range p.open {
		c.Close()
	}
	p.mu.Unlock()
	p.served.Wait()
}

// keep notes a connection for close to close. It returns false if close was called before.
func (p *Proxy) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		c.Close()
		return false
	}
	p.open[c] = true
	return true
}

func (p *Proxy) drop(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, c)
	c.Close()
}

// Codes of a client's first message that asks for no session (PostgreSQL documentation, "Message Formats").
const (
	codeCancel = 80877102
	codeTLS    = 80877103
	codeGSS    = 80877104
)

func (p *Proxy) serve(client net.Conn) {
	if !p.keep(client) {
		return
	}
	defer p.drop(client)
	from := bufio.NewReader(client)
	first, code, err := readStartup(from)
	for err == nil && (code == codeTLS || code == codeGSS) {
		if _, err = client.Write([]byte{'N'}); err == nil {
			first, code, err = readStartup(from)
		}
	}
	if err != nil {
		return
	}
	p.mu.Lock()
	target := p.target
	p.mu.Unlock()
	server, err := net.Dial("tcp4", target)
	if err != nil || !p.keep(server) {
		return
	}
	defer p.drop(server)
	if _, err := server.Write(first); err != nil {
		return
	}
	if code == codeCancel {
		io.Copy(client, server) // nothing, until the server has seen to it
		return
	}
	l := &link{p: p, client: client, server: server, awaited: []Fault{Pass}, statements: make(map[string]string)}
	var both sync.WaitGroup
	both.Go(func() { l.requests(from); l.end(false) })
	both.Go(func() { l.replies(bufio.NewReader(server)); l.end(false) })
	both.Wait()
}

// readStartup reads a first message, which has no type.
func readStartup(r *bufio.Reader) (message []byte, code uint32, err error) {
	head, err := r.Peek(8)
	if err != nil {
		return nil, 0, err
	}
	message = make([]byte, binary.BigEndian.Uint32(head))
	if len(message) < 8 {
		return nil, 0, errors.New("a short startup message")
	}
	_, err = io.ReadFull(r, message)
	return message, binary.BigEndian.Uint32(message[4:]), err
}

// readMessage reads a message: a type, its length, its body.
func readMessage(r *bufio.Reader) ([]byte, error) {
	head, err := r.Peek(5)
	if err != nil {
		return nil, err
	}
	message := make([]byte, 1+binary.BigEndian.Uint32(head[1:]))
	_, err = io.ReadFull(r, message)
	return message, err
}

// A link is one connection through a proxy. Two goroutines serve it. They end when either side ends.
type link struct {
	p              *Proxy
	client, server net.Conn

	statements map[string]string // by name; only requests uses it
	bound      string            // the statement of the newest portal; only requests uses it

	mu      sync.Mutex
	awaited []Fault // one for each ReadyForQuery that has not come yet
}

// errCut ends a link whose connection was cut.
var errCut = errors.New("cut")

// end closes both sides, with a reset or properly.
func (l *link) end(reset bool) {
	for _, c := range []net.Conn{l.client, l.server} {
		if reset {
			c.(*net.TCPConn).SetLinger(0)
		}
		c.Close()
	}
}

// cut cuts the connection, every other time with a reset.
func (l *link) cut(f Fault) error {
	l.p.struck[f].Add(1)
	l.end(l.p.cuts.Add(1)%2 == 0)
	return errCut
}

func (l *link) await(f Fault) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.awaited = append(l.awaited, f)
}

// requests passes the client's messages on, those of the extended protocol in groups.
func (l *link) requests(from *bufio.Reader) error {
	var group []byte
	executes := ""
	for {
		message, err := readMessage(from)
		if err != nil {
			return err
		}
		switch message[0] {
		case 'P':
			if message, err = l.parse(message); err != nil {
				return err
			}
		case 'B':
			var m pgproto3.Bind
			if err := m.Decode(message[5:]); err != nil {
				return err
			}
			l.bound = l.statements[m.PreparedStatement]
		case 'E':
			executes = l.bound
		case 'S':
			if err := l.pass(group, message, executes); err != nil {
				return err
			}
			group, executes = nil, ""
			continue
		case 'Q':
			l.await(Pass)
		}
		switch message[0] {
		case 'P', 'B', 'D', 'E', 'C':
			group = append(group, message...)
			continue
		}
		if _, err := l.server.Write(append(group, message...)); err != nil {
			return err
		}
		group = nil
	}
}

// parse notes, and may rewrite, a statement.
func (l *link) parse(message []byte) ([]byte, error) {
	var m pgproto3.Parse
	if err := m.Decode(message[5:]); err != nil {
		return nil, err
	}
	l.statements[m.Name] = m.Query
	if l.p.Rewrite == nil {
		return message, nil
	}
	m.Query = l.p.Rewrite(m.Query)
	return m.Encode(nil)
}

// pass passes a group and its Sync on.
func (l *link) pass(group, sync []byte, executes string) error {
	f := Pass
	if executes != "" && l.p.Fault != nil {
		f = l.p.Fault(executes)
	}
	switch f {
	case LoseRequest:
		return l.cut(f)
	case LoseSync:
		if _, err := l.server.Write(group); err != nil {
			return err
		}
		return l.cut(f)
	case DelayRequest:
		l.p.struck[f].Add(1)
		time.Sleep(delay)
	}
	l.await(f)
	if _, err := l.server.Write(append(group, sync...)); err != nil {
		return err
	}
	if f == LoseBoth {
		return l.cut(f)
	}
	return nil
}

// replies passes the server's messages on.
func (l *link) replies(from *bufio.Reader) error {
	for began := false; ; {
		message, err := readMessage(from)
		if err != nil {
			return err
		}
		l.mu.Lock()
		f := Pass
		if len(l.awaited) > 0 {
			f = l.awaited[0]
		}
		if message[0] == 'Z' && len(l.awaited) > 0 {
			l.awaited = l.awaited[1:]
		}
		l.mu.Unlock()
		if err := l.reply(f, message, !began); err != nil {
			return err
		}
		began = message[0] != 'Z'
	}
}

// reply passes one message of a reply on.
func (l *link) reply(f Fault, message []byte, first bool) error {
	kind, part := message[0], 0
	switch {
	case f == LoseReply && first:
	case f == LoseRow && kind == 'D':
		part = len(message) / 2
	case f == LoseComplete && kind == 'C':
	case f == LoseReady && kind == 'Z':
	case f == LoseEnd && kind == 'Z':
		part = len(message) - 1
	case f == HoldReply:
		if kind == 'Z' {
			l.p.struck[f].Add(1)
		}
		return nil
	default:
		if f == DelayReply && first {
			l.p.struck[f].Add(1)
			time.Sleep(delay)
		}
		_, err := l.client.Write(message)
		return err
	}
	if _, err := l.client.Write(message[:part]); err != nil {
		return err
	}
	return l.cut(f)
}
