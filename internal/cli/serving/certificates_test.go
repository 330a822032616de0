package serving

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"shuffled/internal/config"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// write writes a certificate of the key with that serial number and life, to a file that is
// put in place of the one before.
func write(t *testing.T, path string, key *ecdsa.PrivateKey, serial int64, life time.Duration) {
	t.Helper()
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(life), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	must(t, err)
	put(t, path, "CERTIFICATE", der)
}

func put(t *testing.T, path, kind string, der []byte) {
	t.Helper()
	text := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
	must(t, os.WriteFile(path+".new", text, 0o600))
	must(t, os.Rename(path+".new", path))
}

func newKey(t *testing.T, path string) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	must(t, err)
	put(t, path, "PRIVATE KEY", der)
	return key
}

// TestChanged: each file that is replaced, written over, removed or comes back is seen once.
func TestChanged(t *testing.T) {
	dir := t.TempDir()
	files := config.TLS{Cert: filepath.Join(dir, "c"), Key: filepath.Join(dir, "k"), ClientCA: filepath.Join(dir, "a")}
	key := newKey(t, files.Key)
	write(t, files.Cert, key, 1, time.Hour)
	write(t, files.ClientCA, key, 2, 2*time.Hour)
	var log strings.Builder
	c, err := OpenCertificates(files, slog.New(slog.NewTextHandler(&log, nil)))
	must(t, err)
	serial := func() int64 {
		t.Helper()
		got, err := c.TLS().GetConfigForClient(nil)
		must(t, err)
		return got.Certificates[0].Leaf.SerialNumber.Int64()
	}
	for _, step := range []struct {
		name    string
		do      func()
		serial  int64
		refused uint64
	}{
		{"the certificate", func() { write(t, files.Cert, key, 3, time.Hour) }, 3, 0},
		{"the key, of another certificate", func() { key = newKey(t, files.Key) }, 3, 1},
		{"its certificate", func() { write(t, files.Cert, key, 4, time.Hour) }, 4, 1},
		{"authorities that are none", func() { put(t, files.ClientCA, "NOTHING", nil) }, 4, 2},
		{"authorities", func() { write(t, files.ClientCA, key, 5, time.Hour) }, 4, 2},
		{"no certificate", func() { os.Remove(files.Cert) }, 4, 3},
		{"one that has ended", func() { write(t, files.Cert, key, 6, -time.Minute) }, 4, 4},
		{"one that lasts", func() { write(t, files.Cert, key, 7, time.Hour) }, 7, 4},
		{"the same with another time", func() { os.Chtimes(files.Cert, time.Time{}, time.Unix(1, 0)) }, 7, 4},
	} {
		if c.changed() {
			t.Errorf("before %s something changed", step.name)
		}
		step.do()
		if !c.changed() {
			t.Errorf("%s: no change", step.name)
		}
		c.reload(time.Now())
		if serial() != step.serial || c.Refused() != step.refused {
			t.Errorf("%s: certificate %d, %d refused", step.name, serial(), c.Refused())
		}
	}
	if strings.Contains(log.String(), "PRIVATE KEY") {
		t.Error("a key stands in the log")
	}
}

// renaming renames a file when it logs.
type renaming struct {
	slog.Handler
	do func()
}

func (r renaming) Handle(context.Context, slog.Record) error { r.do(); return nil }

// TestChangedMeanwhile: a key that is renamed while its certificate is refused is taken at the next look.
func TestChangedMeanwhile(t *testing.T) {
	dir := t.TempDir()
	files := config.TLS{Cert: filepath.Join(dir, "c"), Key: filepath.Join(dir, "k")}
	write(t, files.Cert, newKey(t, files.Key), 1, time.Hour)
	next := newKey(t, filepath.Join(dir, "next"))
	c, err := OpenCertificates(files, slog.New(renaming{slog.NewTextHandler(io.Discard, nil),
		func() { os.Rename(filepath.Join(dir, "next"), files.Key) }}))
	if err != nil {
		t.Fatal(err)
	}
	write(t, files.Cert, next, 2, time.Hour)
	if c.reload(time.Now()); c.Refused() != 1 || !c.changed() {
		t.Errorf("%d refused, and the key that came later is no change", c.Refused())
	}
}

// TestConcern: the earliest end counts, warned of a third of the life before it.
func TestConcern(t *testing.T) {
	dir := t.TempDir()
	files := config.TLS{Cert: filepath.Join(dir, "c"), Key: filepath.Join(dir, "k"), ClientCA: filepath.Join(dir, "a")}
	key := newKey(t, files.Key)
	const day = 24 * time.Hour
	write(t, files.Cert, key, 1, 90*day)
	write(t, files.ClientCA, key, 2, 100*day)
	c, err := OpenCertificates(files, slog.New(slog.DiscardHandler))
	must(t, err)
	for _, step := range []struct {
		after time.Duration
		what  string
		leave bool
	}{
		{0, "", false}, {68 * day, "", false}, {70 * day, "the TLS certificate ends", false},
		{90*day - 11*time.Minute, "the TLS certificate ends", false},
		{90*day - 9*time.Minute, "the TLS certificate ends", true}, {91 * day, "the TLS certificate ends", true},
	} {
		what, leave := c.Concern(time.Now().Add(step.after))
		if !strings.HasPrefix(what, step.what) || (what == "") != (step.what == "") || leave != step.leave {
			t.Errorf("after %s: %q, %v", step.after, what, leave)
		}
	}
	write(t, files.ClientCA, key, 3, 20*day)
	c.reload(time.Now())
	if what, leave := c.Concern(time.Now()); !strings.Contains(what, "tls.client_ca") || leave {
		t.Errorf("with an authority that ends: %q, %v", what, leave)
	}
	none, err := OpenCertificates(config.TLS{}, nil)
	what, leave := none.Concern(time.Now())
	if err != nil || what != "" || leave || none.TLS() != nil || none.Ends() != nil {
		t.Error("without a certificate there is a concern")
	}
}

// TestConcernOfChain: the end of each certificate of the listener's chain counts, except of one that had ended when the
// files were read.
func TestConcernOfChain(t *testing.T) {
	dir := t.TempDir()
	files := config.TLS{Cert: filepath.Join(dir, "c"), Key: filepath.Join(dir, "k")}
	key := newKey(t, files.Key)
	const day = 24 * time.Hour
	for _, step := range []struct{ intermediate, after, warns, leaves time.Duration }{
		{60 * day, 0, 0, 0}, {60 * day, 40 * day, 1, 0}, {60 * day, 60*day - 5*time.Minute, 1, 1},
		{60 * day, 61 * day, 1, 1}, {-time.Minute, 0, 0, 0}, {-time.Minute, 80 * day, 1, 0},
	} {
		var chain []byte
		for i, end := range []time.Duration{90 * day, step.intermediate} {
			write(t, files.Cert, key, int64(i), end)
			one, err := os.ReadFile(files.Cert)
			must(t, err)
			chain = append(chain, one...)
		}
		must(t, os.WriteFile(files.Cert, chain, 0o600))
		c, err := OpenCertificates(files, slog.New(slog.DiscardHandler))
		must(t, err)
		what, leave := c.Concern(time.Now().Add(step.after))
		if (what != "") != (step.warns == 1) || leave != (step.leaves == 1) {
			t.Errorf("%+v: %q, %v", step, what, leave)
		}
	}
}

// TestStopCutsOff: a caller that takes longer than a stop may take is cut off, and the stop is none the worse for it.
func TestStopCutsOff(t *testing.T) {
	defer func(before time.Duration) { shutdownTime = before }(shutdownTime)
	shutdownTime = 50 * time.Millisecond
	came, ended := make(chan struct{}), make(chan struct{})
	server := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(came)
		<-r.Context().Done()
		close(ended)
	})}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	ctx, stop := context.WithCancel(t.Context())
	var group errgroup.Group
	ServeUntil(ctx, &group, l, server, nil)
	go http.Get("http://" + l.Addr().String())
	<-came
	stop()
	must(t, group.Wait())
	<-ended
}

// TestLeastMemory: a host that gives the daemon less memory than it needs is a concern, and no other is.
func TestLeastMemory(t *testing.T) {
	for memory, want := range map[uint64]bool{0: false, leastMemory - 1: true, leastMemory: false} {
		said := fmt.Sprint(HostConcerns(config.Default(), memory))
		if got := strings.Contains(said, "a daemon needs 128"); got != want {
			t.Errorf("with %d bytes: %s", memory, said)
		}
	}
}
