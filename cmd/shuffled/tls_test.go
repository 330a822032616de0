package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"shuffled/internal/cli/serving"
	"shuffled/internal/config"
	"shuffled/internal/stops"
	"shuffled/internal/term"
)

// TestTLSKeyMode wants the private key of a certificate refused like any other secret
// when group or others can use its file, and the file and the cure named.
func TestTLSKeyMode(t *testing.T) {
	t.Parallel()
	c := newCertificates(t)
	c.issue("server", c.key("server"), false)
	files := config.TLS{Cert: c.path("server.pem"), Key: c.path("server.key")}
	log := slog.New(slog.DiscardHandler)
	if made, err := serving.OpenCertificates(files, log); err != nil || len(made.TLS().Certificates) != 1 {
		t.Fatalf("a key of mode 0600: %v", err)
	}
	for mode, cure := range map[os.FileMode]string{0o644: "0600", 0o640: "0600", 0o604: "0600", 0o660: "0600"} {
		if err := os.Chmod(files.Key, mode); err != nil {
			t.Fatal(err)
		}
		_, err := serving.OpenCertificates(files, log)
		if !errors.Is(err, stops.Mode) || !strings.Contains(err.Error(), files.Key) ||
			!strings.Contains(err.Error(), "make it "+cure) {
			t.Errorf("a key of mode %04o: %v", mode, err)
		}
	}
	// The commands that listen say it before they do.
	key := c.path("witness.key")
	var out strings.Builder
	s := term.Streams{In: strings.NewReader(""), Out: &out, Err: &out}
	if code := run(t.Context(), []string{"key", "generate", "witness", "--name", "example.org/w", "--out", key},
		s); code != term.ExitOK {
		t.Fatalf("making a witness's key: %d\n%s", code, out.String())
	}
	out.Reset()
	code := run(t.Context(), []string{"witness", "serve", "--key", key, "--state", c.path("state"), "--listen",
		"127.0.0.1:0",
		"--log", newGrowing(t).key.VKey(), "--tls-cert", files.Cert, "--tls-key", files.Key}, s)
	if code != term.ExitCannot || !strings.Contains(out.String(), "unsafe file mode: "+files.Key) {
		t.Errorf("witness serve: %d\n%s", code, out.String())
	}
}

// TestCertificateIsRenewed: a daemon takes a new certificate on SIGHUP, which does not end it, goes on with the one
// that it has if the new one does not hold, and says before the end that it comes.
func TestCertificateIsRenewed(t *testing.T) {
	t.Parallel()
	c, d := newCertificates(t), newDaemon(t, "")
	operator := newDaemon(t, "").addr
	c.issue("server", c.key("server"), false)
	config := filepath.Join(c.dir, "shuffled.toml")
	text := fmt.Sprintf("listen = %q\noperator_listen = %q\ndata = %q\n[tls]\ncert = %q\nkey = %q\n",
		d.addr, operator, d.data, c.path("server.pem"), c.path("server.key"))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"serve", "--dev", "--config", config, "--operator-listen", operator}
	d.launch("http://"+operator, args)
	served := func() int64 {
		t.Helper()
		conn, err := tls.Dial("tcp", d.addr, &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		return conn.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
	}
	figures := func() string {
		t.Helper()
		_, text := fetch(t, "http://"+operator+"/metrics")
		return text
	}
	hangUp := func(want string) {
		t.Helper()
		d.cmd.Process.Signal(syscall.SIGHUP)
		eventually(t, want+" in the metrics", func() bool { return strings.Contains(figures(), want) })
	}
	first := served()

	// Of two files that belong together one is written first.
	c.key("server")
	hangUp("shuffled_tls_refused_total 1\n")
	if got := served(); got != first {
		t.Errorf("certificate %d is served with the key of another, not %d", got, first)
	}
	ended := c.life
	c.life = -time.Minute
	c.issue("server", c.key("server"), false)
	hangUp("shuffled_tls_refused_total 2\n")
	if got := served(); got != first {
		t.Errorf("certificate %d, which has ended, is served, not %d", got, first)
	}
	c.life = ended
	c.issue("server", c.key("server"), false)
	d.cmd.Process.Signal(syscall.SIGHUP)
	eventually(t, "the new certificate", func() bool { return served() == c.following })

	// What is left is told, and what is too little takes the daemon out of service.
	ready := func() (int, string) {
		t.Helper()
		return fetch(t, "http://"+operator+"/readyz")
	}
	if status, answer := ready(); status != 200 || strings.Contains(answer, "the TLS certificate ends") {
		t.Errorf("with an hour of two left: %d %s", status, answer)
	}
	for _, step := range []struct {
		life   time.Duration
		status int
	}{{20 * time.Minute, 200}, {5 * time.Minute, 503}, {time.Hour, 200}} {
		c.life = step.life
		c.issue("server", c.key("server"), false)
		d.cmd.Process.Signal(syscall.SIGHUP)
		eventually(t, "the new certificate", func() bool { return served() == c.following })
		status, answer := ready()
		if warned := strings.Contains(answer, "the TLS certificate ends"); status != step.status ||
			warned != (step.life < time.Hour) {
			t.Errorf("with %s left: %d %s", step.life, status, answer)
		}
	}
	if !strings.Contains(figures(), `shuffled_tls_not_after_timestamp_seconds{of="listener"}`) ||
		!strings.Contains(figures(), "shuffled_host_open_files_limit ") {
		t.Error("the figures lack the certificate's end or the host's")
	}
	d.stop()

	c.life = -time.Minute
	c.issue("server", c.key("server"), false)
	var out strings.Builder
	code := run(t.Context(), args, term.Streams{In: strings.NewReader(""), Out: &out, Err: &out})
	if code != term.ExitCannot || !strings.Contains(out.String(), "clients refuse a certificate outside its time") {
		t.Errorf("a start with a certificate that has ended: %d\n%s", code, out.String())
	}
}

// TestHangup: without a certificate, too, SIGHUP changes nothing.
func TestHangup(t *testing.T) {
	t.Parallel()
	d := newDaemon(t, "")
	d.start()
	for range 3 {
		d.cmd.Process.Signal(syscall.SIGHUP)
		if status, _, err := d.get("/readyz", ""); status != 200 {
			t.Fatalf("after SIGHUP: %d, %v\n%s", status, err, d.logged())
		}
	}
	d.stop()
}

// eventually waits for what must come.
func eventually(t *testing.T, what string, come func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !come(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}
