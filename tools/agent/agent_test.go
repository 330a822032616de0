package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// memory is a store in memory, whose signing key a test can exchange.
type memory struct {
	private ed25519.PrivateKey
	signs   ed25519.PrivateKey
}

func (m *memory) Keys() ([]*key, error) {
	return []*key{{"main", m.private.Public().(ed25519.PublicKey), func(message []byte) ([]byte, error) {
		return ed25519.Sign(m.signs, message), nil
	}}}, nil
}

func (*memory) Wrap(plain []byte) ([]byte, error) { return append([]byte("wrapped "), plain...), nil }

func (*memory) Unwrap(sealed []byte) ([]byte, error) {
	plain, ok := bytes.CutPrefix(sealed, []byte("wrapped "))
	if !ok {
		return nil, errors.New("not wrapped here")
	}
	return plain, nil
}

// TestHelper: over the protocol, the helper lists, signs, wraps and unwraps, and refuses every
// other request. It does not pass on a wrong signature of the store.
func TestHelper(t *testing.T) {
	t.Parallel()
	_, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	_, other, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newHelper(&memory{private, other}, slog.New(slog.DiscardHandler)); err == nil {
		t.Error("a store with another private key starts")
	}
	m := &memory{private, private}
	h, err := newHelper(m, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := net.Pipe()
	go agent.ServeAgent(h, theirs)
	defer ours.Close()
	c := agent.NewClient(ours)

	list, err := c.List()
	if err != nil || len(list) != 1 || list[0].Comment != "main" || list[0].Format != ssh.KeyAlgoED25519 {
		t.Fatal(list, err)
	}
	text := []byte("a text")
	sig, err := c.Sign(list[0], text)
	if err != nil || !ed25519.Verify(private.Public().(ed25519.PublicKey), text, sig.Blob) {
		t.Errorf("signing: %v", err)
	}
	if _, err := c.SignWithFlags(list[0], text, agent.SignatureFlagRsaSha256); err == nil {
		t.Error("a flag of RSA was taken")
	}
	foreign, err := ssh.NewPublicKey(other.Public())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Sign(foreign, text); err == nil {
		t.Error("a key signs that it does not have")
	}
	m.signs = other
	if _, err := c.Sign(list[0], text); err == nil {
		t.Error("a wrong signature leaves the helper")
	}
	for name, err := range map[string]error{
		"add": c.Add(agent.AddedKey{PrivateKey: other}), "remove": c.Remove(list[0]), "remove all": c.RemoveAll(),
		"lock": c.Lock([]byte("x")), "unlock": c.Unlock([]byte("x"))} {
		if err == nil {
			t.Errorf("%s is done", name)
		}
	}
	wrapped, err := c.Extension(wrapRequest, []byte("small"))
	if err != nil {
		t.Fatal(err)
	}
	var answer extensionResponse
	if err := ssh.Unmarshal(wrapped, &answer); err != nil || answer.Request != wrapRequest {
		t.Fatal(answer, err)
	}
	b, err := c.Extension(unwrapRequest, answer.Result)
	if err != nil || !bytes.HasSuffix(b, []byte("@shuffledsmall")) {
		t.Errorf("%q, %v", b, err)
	}
	for name, body := range map[string][]byte{wrapRequest: nil, "wrap@other": text, unwrapRequest: text,
		" " + wrapRequest: text} {
		if _, err := c.Extension(name, body); err == nil {
			t.Errorf("%q of %q is answered", name, body)
		}
	}
	if _, err := c.Extension(wrapRequest, make([]byte, maxSecret+1)); err == nil {
		t.Error("a secret of any size is wrapped")
	}
}

// pipes is a listener for connections in memory. A connection that is nil makes Accept fail.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if conn := <-p; conn != nil {
		return conn, nil
	}
	return nil, syscall.EMFILE
}

func (p pipes) Close() error { close(p); return nil }
func (pipes) Addr() net.Addr { return nil }

// connect returns the client's end of a connection that the listener accepted.
func (p pipes) connect() net.Conn {
	ours, theirs := net.Pipe()
	p <- theirs
	return ours
}

// TestServe: at most the constant connections are served at the same time, one that waits is served
// when another ends, and an error of Accept ends neither serve nor a connection.
func TestServe(t *testing.T) {
	t.Parallel()
	_, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		h, err := newHelper(&memory{private, private}, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		listener := make(pipes)
		ended := make(chan error, 1)
		go func() { ended <- serve(ctx, h.log, h, listener) }()
		asks := func(conn net.Conn) error { _, err := agent.NewClient(conn).List(); return err }
		listener <- nil
		var served []net.Conn
		for range connections {
			served = append(served, listener.connect())
			if err := asks(served[len(served)-1]); err != nil {
				t.Fatal(err)
			}
		}
		waits := listener.connect()
		answered := make(chan error, 1)
		go func() { answered <- asks(waits) }()
		synctest.Wait()
		select {
		case err := <-answered:
			t.Errorf("connection %d is served: %v", connections+1, err)
		default:
			served[0].Close()
			if err := <-answered; err != nil {
				t.Errorf("when another had ended: %v", err)
			}
		}
		for _, conn := range append(served, waits) {
			conn.Close()
		}
		stop()
		listener.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// TestArguments: with incomplete or unsafe arguments the program does not start.
func TestArguments(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, of := range map[string]struct{ line, want string }{
		"nothing":       {"", "pkcs11 or transit"},
		"a kind":        {"tpm -socket s -sign a", "pkcs11 or transit"},
		"no key":        {"pkcs11 -socket s -library l -token t -pin-file p", "not complete"},
		"no socket":     {"pkcs11 -sign a -library l -token t -pin-file p", "not complete"},
		"a word more":   {"pkcs11 -socket s -sign a -library l -token t -pin-file p x", "not complete"},
		"no PIN":        {"pkcs11 -socket s -sign a -library l -token t -pin-file " + dir + "/none", "no such file"},
		"a directory":   {"pkcs11 -socket s -sign a -library l -token t -pin-file " + dir, "others can read"},
		"other's flags": {"pkcs11 -socket s -sign a -url p", "not defined"},
	} {
		err := run(t.Context(), slog.New(slog.DiscardHandler), strings.Fields(of.line))
		if err == nil || !strings.Contains(err.Error(), of.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestListen: listen replaces a socket that a crash left behind. It leaves alone a socket that a
// process serves, and any file that is no socket.
func TestListen(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	l, err := listen(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := listen(path); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("two serve one socket: %v", err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	l.Close()
	if l, err = listen(path); err != nil {
		t.Fatal(err)
	}
	l.Close()
	pin := filepath.Join(t.TempDir(), "pin")
	put(t, pin, "1234\n")
	if _, err := listen(pin); err == nil || !strings.Contains(err.Error(), "is no socket") {
		t.Errorf("a file in place of a socket: %v", err)
	}
	if text, err := os.ReadFile(pin); err != nil || string(text) != "1234\n" {
		t.Errorf("the file is %q, %v", text, err)
	}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
