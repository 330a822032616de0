package httpapi

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
)

// authority is a certificate authority of a test.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	return key
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t, key: newKey(t)}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"}, IsCA: true,
		BasicConstraintsValid: true,
		NotBefore:             time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, a.key.Public(), a.key)
	must(t, err)
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	return a
}

// issue returns a certificate for the key, changed by change, which may be nil.
func (a *authority) issue(key *ecdsa.PrivateKey, change func(*x509.Certificate)) *tls.Certificate {
	a.t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "back end"}, DNSNames: []string{"localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	if change != nil {
		change(template)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

// secured is a stack behind TLS that takes client certificates of an authority.
type secured struct {
	*stack
	authority *authority
	url       string
}

func newSecured(t *testing.T) *secured {
	t.Helper()
	s := &secured{stack: newStack(t, stackOptions{private: true}), authority: newAuthority(t)}
	pool := x509.NewCertPool()
	pool.AddCert(s.authority.cert)
	server := httptest.NewUnstartedServer(s.api)
	server.EnableHTTP2 = true
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	server.TLS = &tls.Config{MinVersion: tls.VersionTLS13, ClientCAs: pool, ClientAuth: tls.VerifyClientCertIfGiven,
		Certificates: []tls.Certificate{*s.authority.issue(newKey(t), nil)}}
	server.StartTLS()
	t.Cleanup(server.Close)
	s.url = strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
	return s
}

// client returns a client with the certificate, which may be nil.
func (s *secured) client(cert *tls.Certificate) *http.Client {
	pool := x509.NewCertPool()
	pool.AddCert(s.authority.cert)
	transport := &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{
		RootCAs: pool, ClientSessionCache: tls.NewLRUClientSessionCache(8),
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			if cert == nil {
				return new(tls.Certificate), nil
			}
			return cert, nil // whatever authorities the server named
		},
	}}
	s.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// ask makes a request; an error of the connection is status 0.
func (s *secured) ask(c *http.Client, method, path, bearer, body string) (status int, answer string, resumed bool) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, bytes.NewReader([]byte(body)))
	must(s.t, err)
	if bearer != "" {
		req.Header.Set("Authorization", "Bearer "+bearer)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", "k")
	resp, err := c.Do(req)
	if err != nil {
		return 0, err.Error(), false
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	must(s.t, err)
	return resp.StatusCode, string(b), resp.TLS.DidResume
}

func (s *secured) status(c *http.Client) int {
	s.t.Helper()
	status, _, _ := s.ask(c, "GET", "/v1/main/keys", "", "")
	return status
}

// register lets the ledger know the certificate's key.
func (s *secured) register(key *ecdsa.PrivateKey, role audit.Role, change func(*audit.Credential)) (id string) {
	s.t.Helper()
	spki, err := x509.MarshalPKIXPublicKey(key.Public())
	must(s.t, err)
	id, hash := ledger.CertificateID(spki)
	c := &audit.Credential{Kind: audit.CredentialCreated, ID: id, Form: audit.FormCertificate, Role: role,
		Identity: role.String()}
	if change != nil {
		change(c)
	}
	c.Digest = c.Opens(hash)
	s.write(c)
	return id
}

// TestHSTS wants browsers told to come back over TLS, by every answer over TLS.
func TestHSTS(t *testing.T) {
	t.Parallel()
	s := newSecured(t)
	for _, path := range []string{"/", "/v1/main/keys", "/nowhere"} {
		resp, err := s.client(nil).Get(s.url + path)
		must(t, err)
		resp.Body.Close()
		if got := resp.Header.Get("Strict-Transport-Security"); got != "max-age=31536000" {
			t.Errorf("%s: Strict-Transport-Security %q", path, got)
		}
	}
}

// TestCertificates: who is whom behind TLS. The ledger asks readers for a token.
func TestCertificates(t *testing.T) {
	t.Parallel()
	s := newSecured(t)
	key := newKey(t)
	id := s.register(key, audit.RoleDealer, nil)
	good := s.authority.issue(key, nil)

	c := s.client(good)
	status, body, _ := s.ask(c, "POST", "/v1/main/shuffles", "", `{"table":"t","deck":"short-36"}`)
	if status != 200 {
		t.Fatalf("a commit by certificate: %d %s", status, body)
	}
	for row, err := range s.store.Rows(t.Context(), s.ledger.ID(), s.size+1, s.size+2) {
		must(t, err)
		if e, err := audit.ParseEntry(row.Entry); err != nil ||
			e.Actor != (audit.Actor{Identity: "dealer", Credential: id}) {
			t.Errorf("the actor is %+v: %v", e.Actor, err)
		}
	}

	other := newKey(t)
	s.register(other, audit.RoleDealer, func(c *audit.Credential) { c.Expires = s.clock.Now().UnixMilli() })
	narrow := newKey(t)
	s.register(narrow, audit.RoleAuditor, func(c *audit.Credential) { c.Tables = []string{"z"} })
	past := func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) }
	server := func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth} }
	for name, c := range map[string]struct {
		cert *tls.Certificate
		want int // 0: the handshake fails
	}{
		"known":                      {good, 200},
		"none":                       {nil, 401},
		"unknown, of our authority":  {s.authority.issue(newKey(t), nil), 401},
		"known key, other authority": {newAuthority(t).issue(key, nil), 0},
		"expired certificate":        {s.authority.issue(key, past), 0},
		"for servers only":           {s.authority.issue(key, server), 0},
		"renewed with the same key": {s.authority.issue(key,
			func(c *x509.Certificate) { c.SerialNumber = big.NewInt(99) }), 200},
		"known, its entry expired":     {s.authority.issue(other, nil), 401},
		"known, for tables: keys":      {s.authority.issue(narrow, nil), 200},
		"signed by a known key itself": {(&authority{t, good.Leaf, key}).issue(newKey(t), nil), 0},
	} {
		if got := s.status(s.client(c.cert)); got != c.want {
			t.Errorf("%s: %d, not %d", name, got, c.want)
		}
	}
	if status, body, _ := s.ask(s.client(s.authority.issue(narrow, nil)), "GET",
		fmt.Sprintf("/v1/main/shuffles/%d", s.size+1), "", ""); status != 403 ||
		!strings.Contains(body, "tables only: z") {
		t.Errorf("a table that the certificate is not for: %d %s", status, body)
	}
}

// TestCertificateAndHeader: where both are sent, the header counts and is checked.
func TestCertificateAndHeader(t *testing.T) {
	t.Parallel()
	s := newSecured(t)
	key := newKey(t)
	s.register(key, audit.RoleDealer, nil)
	known, unknown := s.client(s.authority.issue(key, nil)), s.client(s.authority.issue(newKey(t), nil))
	for name, c := range map[string]struct {
		client *http.Client
		bearer string
		want   int
	}{
		"known certificate, auditor's token":  {known, s.auditorToken, 403},
		"unknown certificate, dealer's token": {unknown, s.dealerToken, 422},
		"known certificate, wrong token":      {known, s.wrong, 401},
		"known certificate, revoked token":    {known, s.revoked, 401},
		"known certificate, no token":         {known, "", 422},
		"known certificate, no token at all":  {known, "x", 401},
	} {
		// A dealer gets as far as the deck.
		if got, body, _ := s.ask(c.client, "POST", "/v1/main/shuffles", c.bearer,
			`{"table":"t","deck":"none"}`); got != c.want {
			t.Errorf("%s: %d %s", name, got, body)
		}
	}
}

// TestCertificateRevoked wants a revocation to bite on a connection that is kept, and on one that resumes.
func TestCertificateRevoked(t *testing.T) {
	t.Parallel()
	s := newSecured(t)
	key := newKey(t)
	id := s.register(key, audit.RoleDealer, nil)
	cert := s.authority.issue(key, nil)
	kept, resuming := s.client(cert), s.client(cert)
	if a, b := s.status(kept), s.status(resuming); a != 200 || b != 200 {
		t.Fatalf("%d and %d", a, b)
	}
	s.write(revoke(id))
	if got := s.status(kept); got != 401 {
		t.Errorf("on the kept connection: %d", got)
	}
	resuming.CloseIdleConnections()
	if status, _, resumed := s.ask(resuming, "GET", "/v1/main/keys", "", ""); status != 401 || !resumed {
		t.Errorf("on a connection that resumed (%t): %d", resumed, status)
	}
	again := &audit.Credential{Kind: audit.CredentialCreated, ID: id, Form: audit.FormCertificate,
		Role: audit.RoleDealer, Identity: "dealer"}
	_, err := s.ledger.Append(t.Context(), ledger.Proposal{Actor: audit.Operator, Bodies: []audit.Body{again}})
	if illegal := new(audit.Illegal); !errors.As(err, &illegal) || illegal.Code != audit.RuleCredential {
		t.Errorf("a revoked key is registered again: %v", err)
	}
}

// TestCertificateRunsOut: a connection does not outlive the certificate that it was opened with.
func TestCertificateRunsOut(t *testing.T) {
	t.Parallel()
	s := newSecured(t)
	key := newKey(t)
	s.register(key, audit.RoleDealer, nil)
	c := s.client(s.authority.issue(key, nil)) // for one hour
	if got := s.status(c); got != 200 {
		t.Fatalf("%d", got)
	}
	s.clock.add(2 * time.Hour) // from when the ledger was made, some time before
	if got := s.status(c); got != 401 {
		t.Errorf("after its time: %d", got)
	}
}

// TestCertificateIsNoToken: what the hash of a certificate is of is public, so it is no secret of a bearer token.
func TestCertificateIsNoToken(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{private: true})
	spki := "a public key that everybody has"
	id, hash := ledger.CertificateID([]byte(spki))
	c := &audit.Credential{Kind: audit.CredentialCreated, ID: id, Form: audit.FormCertificate, Role: audit.RoleAdmin,
		Identity: "admin"}
	c.Digest = c.Opens(hash)
	s.write(c)
	s.get("/v1/main/keys", id+"."+spki).want(t, CodeUnauthorized, "")
	// Nor is a header of a proxy a certificate.
	header := http.Header{"X-Client-Cert": {spki}, "X-Ssl-Client-Cert": {spki}, "Client-Cert": {spki},
		"X-Forwarded-Client-Cert": {spki}}
	s.do(ask{method: "GET", path: "/v1/main/keys", header: header}).want(t, CodeUnauthorized, "")
}
