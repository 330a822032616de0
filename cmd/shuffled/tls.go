package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"

	"shuffled/internal/config"
)

// loadTLS returns the listener's TLS configuration, nil without a certificate.
// Only TLS 1.3 is spoken. Where authorities are named clients are asked for a
// certificate; one that these did not issue fails the handshake, and none is as
// good as no token.
func loadTLS(c config.TLS) (*tls.Config, error) {
	if c.Cert == "" {
		return nil, nil
	}
	cert, err := tls.LoadX509KeyPair(c.Cert, c.Key)
	if err != nil {
		return nil, fmt.Errorf("reading the TLS certificate: %w", err)
	}
	t := &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{cert}, NextProtos: []string{"h2", "http/1.1"}}
	if c.ClientCA == "" {
		return t, nil
	}
	pem, err := os.ReadFile(c.ClientCA)
	if err != nil {
		return nil, fmt.Errorf("reading the client authorities: %w", err)
	}
	t.ClientCAs, t.ClientAuth = x509.NewCertPool(), tls.VerifyClientCertIfGiven
	if !t.ClientCAs.AppendCertsFromPEM(pem) {
		return nil, errors.New("the file of client authorities holds no certificate")
	}
	return t, nil
}
