package main

import (
	"errors"
	"os"
	"strings"
	"testing"

	"shuffled/internal/cli/serving"
	"shuffled/internal/config"
	"shuffled/internal/keys"
	"shuffled/internal/term"
)

// TestTLSKeyMode wants the private key of a certificate refused like any other secret
// when group or others can use its file, and the file and the cure named.
func TestTLSKeyMode(t *testing.T) {
	t.Parallel()
	c := newCertificates(t)
	c.issue("server", c.key("server"), false)
	files := config.TLS{Cert: c.path("server.pem"), Key: c.path("server.key")}
	if made, err := serving.LoadTLS(files); err != nil || len(made.Certificates) != 1 {
		t.Fatalf("a key of mode 0600: %v", err)
	}
	for mode, cure := range map[os.FileMode]string{0o644: "0600", 0o640: "0600", 0o604: "0600", 0o660: "0600"} {
		if err := os.Chmod(files.Key, mode); err != nil {
			t.Fatal(err)
		}
		_, err := serving.LoadTLS(files)
		if !errors.Is(err, keys.ErrMode) || !strings.Contains(err.Error(), files.Key) ||
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
