package build

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReleased: a program is of a release when its digest stands in a file that the key
// signed, and not otherwise.
func TestReleased(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "shuffled")
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("shuffled", "a program")
	sum, err := digest(program)
	if err != nil {
		t.Fatal(err)
	}
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	key := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	sign := func(sums string) {
		write(sumsName, sums)
		write(signatureName, string(ed25519.Sign(private, []byte(sums))))
	}
	sums := strings.Repeat("0", 64) + "  other\n" + sum + "  linux-amd64/shuffled\n"
	sign(sums)
	if name, err := releasedFile(program, dir, key); err != nil || name != "linux-amd64/shuffled" {
		t.Errorf("%q, %v", name, err)
	}
	for name, damage := range map[string]func(){
		"another program":  func() { write("shuffled", "another program") },
		"a changed digest": func() { write(sumsName, strings.Replace(sums, "0", "1", 1)) },
		"no digest of it":  func() { sign(strings.Repeat("0", 64) + "  other\n") },
		"a cut line":       func() { sign(sum + "\n") },
		"no signature":     func() { os.Remove(filepath.Join(dir, signatureName)) },
		"a long file":      func() { sign(strings.Repeat(sums, 1<<20/len(sums)+1)) },
	} {
		write("shuffled", "a program")
		sign(sums)
		damage()
		got, err := releasedFile(program, dir, key)
		if err == nil {
			t.Errorf("%s: it is %s", name, got)
		}
		if name == "a changed digest" && !errors.Is(err, errUnsigned) {
			t.Errorf("%s: %v", name, err)
		}
	}
	write("shuffled", "a program")
	sign(sums)
	for name, bad := range map[string][]byte{"none": nil, "two": append(key, key...), "no PEM": der} {
		if _, err := releasedFile(program, dir, bad); err == nil {
			t.Errorf("%s: a key was taken", name)
		}
	}
}
