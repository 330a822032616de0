// Package outbound is for requests to servers of others, which are not trusted. No redirect is followed, and no text of
// such a server becomes part of an error: errors reach logs, readiness answers and problem documents.
package outbound

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// Client returns an HTTP client that follows no redirect: it returns the redirect as the
// answer. base may be nil for the default transport.
func Client(base *http.Client) *http.Client {
	c := http.Client{}
	if base != nil {
		c = *base
	}
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &c
}

// Reason returns why a request got no answer, without the address, which the caller knows, and without any text of the
// server. net/http puts the first line of an answer that is not HTTP into its error.
func Reason(err error) error {
	var (
		lookup  *net.DNSError
		op      *net.OpError
		cert    *tls.CertificateVerificationError
		noTLS   tls.RecordHeaderError
		timeout interface{ Timeout() bool }
	)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled):
		return context.Canceled
	case errors.Is(err, context.DeadlineExceeded):
		return context.DeadlineExceeded
	case errors.As(err, &timeout) && timeout.Timeout():
		return errors.New("no answer in time")
	case errors.As(err, &lookup):
		return errors.New("the name of the host is not found")
	case errors.As(err, &cert):
		return errors.New("the server's certificate does not verify")
	case errors.As(err, &noTLS):
		return errors.New("the server does not speak TLS")
	case errors.As(err, &op):
		return fmt.Errorf("%s: %w", op.Op, op.Err) // an error of this system, or an alert of TLS: fixed texts
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the server ended the connection")
	}
	return errors.New("the server's answer is not HTTP")
}

// ParseURL reads the address of a server: http or https, with a host, without credentials,
// query and fragment. The error does not repeat the address, which may hold a password.
func ParseURL(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil, u.Scheme != "https" && u.Scheme != "http", u.Host == "", u.Opaque != "":
		return nil, errors.New("is no http or https address")
	case u.User != nil:
		return nil, errors.New("holds a user name or password, which would become public with it")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, errors.New("has a query or a fragment")
	}
	return u, nil
}

// Authority returns host:port of an address in lower case, with the scheme's port if the
// address has none. Two addresses of one server have the same authority.
func Authority(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}
