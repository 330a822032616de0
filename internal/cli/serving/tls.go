package serving

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"

	"shuffled/internal/config"
	"shuffled/internal/keys"
)

// LoadTLS returns the listener's TLS configuration, nil without a certificate.
// Only TLS 1.3 is spoken. Where authorities are named clients are asked for a
// certificate; one that these did not issue fails the handshake, and none is as
// good as no token. The private key is a secret like any other: a file that group or
// others can use is refused.
func LoadTLS(c config.TLS) (*tls.Config, error) {
	if c.Cert == "" {
		return nil, nil
	}
	chain, err := os.ReadFile(c.Cert)
	if err != nil {
		return nil, fmt.Errorf("reading the TLS certificate: %w", err)
	}
	key, err := keys.ReadSecret(c.Key)
	if err != nil {
		return nil, fmt.Errorf("reading the private key of the TLS certificate: %w", err)
	}
	cert, err := tls.X509KeyPair(chain, key.Bytes())
	if err != nil {
		return nil, fmt.Errorf("reading the TLS certificate %s and its private key: %w", c.Cert, err)
	}
	t := &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{cert},
		NextProtos: []string{"h2", "http/1.1"}}
	if c.ClientCA == "" {
		return t, nil
	}
	authorities, err := os.ReadFile(c.ClientCA)
	if err != nil {
		return nil, fmt.Errorf("reading the client authorities: %w", err)
	}
	t.ClientCAs, t.ClientAuth = x509.NewCertPool(), tls.VerifyClientCertIfGiven
	if !t.ClientCAs.AppendCertsFromPEM(authorities) {
		return nil, errors.New("the file of client authorities holds no certificate")
	}
	return t, nil
}
