package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/rogpeppe/go-internal/testscript"

	"shuffled/internal/term/termtest"
)

// TestAdmin runs an administrator's commands against a running daemon.
func TestAdmin(t *testing.T) {
	t.Parallel()
	d := newDaemon(t, "")
	d.start()
	_, other := sampleKey(t, "other.example")
	c := newCertificates(t)
	client := c.key("client")
	first := c.issue("first", client, false)
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "admin"),
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			for name, value := range map[string]string{
				"SHUFFLED_URL": d.url, "DATA": d.data, "VKEY": filepath.Join(d.data, "main.vkey"), "OTHER": other,
				"DEALER": filepath.Join(d.data, "dealer.token"), "AUDITOR": filepath.Join(d.data, "auditor.token"),
				"ADMIN": filepath.Join(d.data, "admin.token"),
				"CERT":  first, "RENEWED": c.issue("renewed", client, false), "AUTHORITY": c.path("authority.pem"),
				"BOTH": c.join(first, c.path("authority.pem")),
			} {
				env.Setenv(name, value)
			}
			return nil
		},
		Cmds: termtest.Commands(),
	})
}

// certificates is an authority of a test, with its files.
type certificates struct {
	t         *testing.T
	dir       string
	cert      *x509.Certificate
	private   *ecdsa.PrivateKey
	following int64         // serial number
	life      time.Duration // of what is issued next
	of        []net.IP      // addresses that it is for
}

func newCertificates(t *testing.T) *certificates {
	t.Helper()
	c := &certificates{t: t, dir: t.TempDir(), following: 1, life: time.Hour, of: []net.IP{net.IPv4(127, 0, 0, 1)}}
	c.private = c.key("authority")
	block, _ := pem.Decode(contents(t, c.issue("authority", c.private, true)))
	var err error
	if c.cert, err = x509.ParseCertificate(block.Bytes); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *certificates) path(name string) string { return filepath.Join(c.dir, name) }

func (c *certificates) write(name, kind string, der []byte) string {
	c.t.Helper()
	if err := os.WriteFile(c.path(name), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		c.t.Fatal(err)
	}
	return c.path(name)
}

// key makes a key and its file NAME.key.
func (c *certificates) key(name string) *ecdsa.PrivateKey {
	c.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		c.t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		c.t.Fatal(err)
	}
	c.write(name+".key", "PRIVATE KEY", der)
	return key
}

// issue makes the file NAME.pem with a certificate of the key.
func (c *certificates) issue(name string, key *ecdsa.PrivateKey, authority bool) string {
	c.t.Helper()
	c.following++
	template := &x509.Certificate{
		SerialNumber: big.NewInt(c.following), Subject: pkix.Name{CommonName: name},
		IPAddresses: c.of,
		NotBefore:   time.Now().Add(-time.Hour), NotAfter: time.Now().Add(c.life), BasicConstraintsValid: true,
		IsCA:        authority,
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	parent := c.cert
	if authority {
		template.KeyUsage, template.ExtKeyUsage, parent = x509.KeyUsageCertSign, nil, template
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), c.private)
	if err != nil {
		c.t.Fatal(err)
	}
	return c.write(name+".pem", "CERTIFICATE", der)
}

func (c *certificates) join(a, b string) string {
	c.t.Helper()
	var all []byte
	for _, path := range []string{a, b} {
		all = append(all, contents(c.t, path)...)
	}
	if err := os.WriteFile(c.path("both.pem"), all, 0o600); err != nil {
		c.t.Fatal(err)
	}
	return c.path("both.pem")
}

// client returns a client with the certificate and key of that name, "" for none.
func (c *certificates) client(name string) *http.Client {
	c.t.Helper()
	config := &tls.Config{RootCAs: x509.NewCertPool(), ClientSessionCache: tls.NewLRUClientSessionCache(4)}
	config.RootCAs.AddCert(c.cert)
	if name != "" {
		pair, err := tls.LoadX509KeyPair(c.path(name+".pem"), c.path(name+".key"))
		if err != nil {
			c.t.Fatal(err)
		}
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
	}
	transport := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true}
	c.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: 30 * time.Second}
}

// TestClientCertificates: a daemon that ends TLS knows callers by their certificates, until they are revoked.
func TestClientCertificates(t *testing.T) {
	t.Parallel()
	d, c := newDaemon(t, ""), newCertificates(t)
	for _, name := range []string{"server", "known", "stranger", "auditor"} {
		c.issue(name, c.key(name), false)
	}
	foreign := newCertificates(t)
	foreign.issue("foreign", foreign.key("foreign"), false)
	for _, end := range []string{".pem", ".key"} {
		if err := os.Rename(foreign.path("foreign"+end), c.path("foreign"+end)); err != nil {
			t.Fatal(err)
		}
	}
	operator := newDaemon(t, "").addr
	config := filepath.Join(c.dir, "shuffled.toml")
	text := fmt.Sprintf("listen = %q\noperator_listen = %q\ndata = %q\n[tls]\ncert = %q\nkey = %q\nclient_ca = %q\n[[ledger]]\nname = \"main\"\n",
		d.addr, operator, d.data, c.path("server.pem"), c.path("server.key"), c.path("authority.pem"))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) string {
		t.Helper()
		path := builtBinary(t)
		cmd := exec.Command(path, args...)
		cmd.Env = append(os.Environ(), "SSL_CERT_FILE="+c.path("authority.pem"))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	if err := os.MkdirAll(d.data, 0o700); err != nil {
		t.Fatal(err)
	}
	run("migrate", "up", "--config", config)
	run("key", "generate", "sealing", "--out", filepath.Join(d.data, "sealing.key"))
	run("ledger", "create", "--house", "casino",
		"--config", config, "--name", "main", "--origin", "sandbox.example/main")
	id := run("token", "create", "--config", config, "--role", "dealer", "--identity", "poker-backend", "--certificate",
		c.path("known.pem"))
	run("token", "create", "--config", config, "--role", "auditor", "--certificate", c.path("auditor.pem"))
	run("act", "do", "admin_credential", "--new-token-file", c.path("admin.token"), "--sign",
		filepath.Join(d.data, "admin.key"), "--yes", "--config", config)
	d.launch("http://"+operator, []string{"serve", "--config", config})
	for _, command := range []string{"token", "act"} { // with the certificate of an auditor, who may read both lists
		run(command, "list", "--url", "https://"+d.addr, "--client-cert", c.path("auditor.pem"), "--client-key",
			c.path("auditor.key"))
	}

	commit := func(client *http.Client) int {
		t.Helper()
		req, err := http.NewRequest("POST", "https://"+d.addr+"/v1/main/shuffles",
			strings.NewReader(`{"table":"t","deck":"short-36"}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Idempotency-Key", "k")
		resp, err := client.Do(req)
		if err != nil {
			return 0
		}
		defer resp.Body.Close()
		io.Copy(io.Discard, resp.Body)
		return resp.StatusCode
	}
	path := builtBinary(t)
	for name, code := range map[string]int{"known": 0, "stranger": 3, "foreign": 3} {
		cmd := exec.Command(path, "shuffle", "--url", "https://"+d.addr, "--table", "commands", "--deck", "short-36",
			"--client-cert", c.path(name+".pem"), "--client-key", c.path(name+".key"))
		cmd.Env = append(os.Environ(), "SSL_CERT_FILE="+c.path("authority.pem"), "SHUFFLED_TOKEN=")
		if out, err := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != code {
			t.Errorf("a command with certificate %q: %v, not %d\n%s", name, err, code, out)
		}
	}

	known := c.client("known")
	for who, want := range map[string]int{"known": 200, "stranger": 401, "": 401, "foreign": 0} {
		if got := commit(c.client(who)); got != want {
			t.Errorf("certificate %q: %d, not %d", who, got, want)
		}
	}
	if got := commit(known); got != 200 {
		t.Fatalf("a second time: %d", got)
	}
	run("token", "revoke", "--url", "https://"+d.addr, "--token-file", c.path("admin.token"), "--key",
		filepath.Join(d.data, "main.vkey"), id)
	for end := time.Now().Add(time.Minute); commit(known) != 401; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) { // five seconds, and a busy machine
			t.Fatal("a revoked certificate is still taken")
		}
	}
	known.CloseIdleConnections()
	if got := commit(known); got != 401 {
		t.Errorf("on a connection that resumes: %d", got)
	}
	d.stop()
}

// TestNoSecretInFlags: a process list shows every argument, so secrets are given as files.
func TestNoSecretInFlags(t *testing.T) {
	t.Parallel()
	parser, err := kong.New(new(cli), kong.Name("shuffled"))
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	var walk func(*kong.Node)
	walk = func(n *kong.Node) {
		for _, f := range n.Flags {
			seen++
			words := strings.Split(f.Name, "-")
			secret := slices.ContainsFunc(words, func(w string) bool {
				return slices.Contains([]string{"token", "password", "passphrase", "secret", "bearer"}, w)
			})
			if secret && words[len(words)-1] != "file" {
				t.Errorf("%s --%s takes a secret", n.FullPath(), f.Name)
			}
		}
		for _, child := range n.Children {
			walk(child)
		}
	}
	walk(parser.Model.Node)
	if seen < 100 {
		t.Fatalf("%d flags", seen)
	}
}
