package serving

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"shuffled/internal/config"
)

// write writes a certificate of the key with that serial number and life, to a file that is
// put in place of the one before.
func write(t *testing.T, path string, key *ecdsa.PrivateKey, serial int64, life time.Duration) {
	t.Helper()
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(life), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	put(t, path, "CERTIFICATE", der)
}

func put(t *testing.T, path, kind string, der []byte) {
	t.Helper()
	text := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

func newKey(t *testing.T, path string) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
	serial := func() int64 {
		t.Helper()
		got, err := c.TLS().GetConfigForClient(nil)
		if err != nil {
			t.Fatal(err)
		}
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

// TestConcern: the earliest end counts, warned of a third of the life before it.
func TestConcern(t *testing.T) {
	dir := t.TempDir()
	files := config.TLS{Cert: filepath.Join(dir, "c"), Key: filepath.Join(dir, "k"), ClientCA: filepath.Join(dir, "a")}
	key := newKey(t, files.Key)
	const day = 24 * time.Hour
	write(t, files.Cert, key, 1, 90*day)
	write(t, files.ClientCA, key, 2, 100*day)
	c, err := OpenCertificates(files, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
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
	chain := func(ends ...time.Duration) *Certificates {
		t.Helper()
		var text []byte
		for i, end := range ends {
			write(t, files.Cert, key, int64(i), end)
			one, err := os.ReadFile(files.Cert)
			if err != nil {
				t.Fatal(err)
			}
			text = append(text, one...)
		}
		if err := os.WriteFile(files.Cert, text, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := OpenCertificates(files, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for name, step := range map[string]struct {
		ends  []time.Duration
		after time.Duration
		warns bool
		leave bool
	}{
		"an intermediate in time": {[]time.Duration{90 * day, 60 * day}, 0, false, false},
		"near its end":            {[]time.Duration{90 * day, 60 * day}, 40 * day, true, false},
		"minutes before":          {[]time.Duration{90 * day, 60 * day}, 60*day - 5*time.Minute, true, true},
		"behind it":               {[]time.Duration{90 * day, 60 * day}, 61 * day, true, true},
		"one that clients pass":   {[]time.Duration{90 * day, 60 * day, -time.Minute}, 0, false, false},
		"and a leaf near its end": {[]time.Duration{90 * day, -time.Minute}, 80 * day, true, false},
	} {
		what, leave := chain(step.ends...).Concern(time.Now().Add(step.after))
		if (what != "") != step.warns || leave != step.leave {
			t.Errorf("%s: %q, %v", name, what, leave)
		}
	}
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
