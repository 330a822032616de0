package outbound

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
)

// speaks is a server that says a text on each connection and closes it.
func speaks(t *testing.T, text string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Write([]byte(text))
			c.(*net.TCPConn).CloseWrite()
		}
	}()
	return "http://" + l.Addr().String()
}

// TestReason wants no word of a server in an error, whatever it speaks.
func TestReason(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"220 SECRET ESMTP\r\n", "HTTP/1.1 SECRET\r\n\r\n",
		"HTTP/1.1 200 OK\r\nSECRET\r\n\r\n",
		"HTTP/9.SECRET 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: SECRET\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: SECRET\r\n\r\n", ""} {
		at := speaks(t, text)
		_, err := Client(nil).Get(at)
		if err == nil {
			t.Errorf("%q is an answer", text)
			continue
		}
		if said := Reason(err).Error(); strings.Contains(said, "SECRET") || strings.Contains(said, at) {
			t.Errorf("%q: %s", text, said)
		}
	}
	tls := httptest.NewUnstartedServer(http.NotFoundHandler())
	tls.Config.ErrorLog = nil
	tls.StartTLS()
	defer tls.Close()
	for at, want := range map[string]string{tls.URL: "the server's certificate does not verify",
		strings.Replace(speaks(t, "220 SECRET"), "http:", "https:", 1): "the server does not speak TLS"} {
		if _, err := Client(nil).Get(at); err == nil || Reason(err).Error() != want {
			t.Errorf("%s: %v, %v", at, err, Reason(err))
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if _, err := Client(nil).Get("http://" + l.Addr().String()); !errors.Is(Reason(err), syscall.ECONNREFUSED) ||
		Reason(err).Error() != "dial: connect: connection refused" {
		t.Errorf("nobody listens: %v", Reason(err))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	req, _ := http.NewRequestWithContext(ctx, http.MethodGet, tls.URL, nil)
	if _, err := Client(nil).Do(req); Reason(err) != context.Canceled {
		t.Errorf("canceled: %v", Reason(err))
	}
}

func TestClientFollowsNoRedirect(t *testing.T) {
	t.Parallel()
	asked := false
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	defer other.Close()
	moves := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusFound))
	defer moves.Close()
	resp, err := Client(nil).Get(moves.URL)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusFound || asked {
		t.Errorf("status %d, the other server was asked: %t", resp.StatusCode, asked)
	}
}

func TestParseURL(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://W.example.org/w1": "w.example.org:443", "http://w.example.org": "w.example.org:80",
		"http://127.0.0.1:8": "127.0.0.1:8", "https://[::1]:9/": "[::1]:9",
	} {
		u, err := ParseURL(address)
		if err != nil || Authority(u) != want {
			t.Errorf("%s: %v, %v", address, u, err)
		}
	}
	for _, address := range []string{"", "w.example.org", "ftp://w", "https://", "https://u:pw@w", "https://u@w",
		"https://w?a", "https://w/?", "https://w#f", "http:w", "://", "http://[::1"} {
		if _, err := ParseURL(address); err == nil || strings.Contains(err.Error(), "pw") {
			t.Errorf("%q: %v", address, err)
		}
	}
}
