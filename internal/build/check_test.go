package build

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
)

// TestReleased: a program is of a release when its digest stands in a file that the key signed, and not otherwise.
func TestReleased(t *testing.T) {
	program := sha256.Sum256([]byte("a program"))
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	key := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	other := strings.Repeat("0", 64) + "  other\n"
	listed := runtime.GOOS + "-" + runtime.GOARCH + "/shuffled"
	sums := fmt.Sprintf("%s%x  %s\n", other, program, listed)
	released := func(program [32]byte, sums, signed string, key []byte) (string, error) {
		return Released(program, []byte(sums), ed25519.Sign(private, []byte(signed)), key)
	}
	if name, err := released(program, sums, sums, key); err != nil || name != listed {
		t.Errorf("%q, %v", name, err)
	}
	for _, elsewhere := range []string{"plan9-mips/shuffled", "shuffled"} {
		moved := strings.Replace(sums, listed, elsewhere, 1)
		if name, err := released(program, moved, moved, key); err == nil || !strings.Contains(err.Error(), elsewhere) {
			t.Errorf("listed as %s: %q, %v", elsewhere, name, err)
		}
	}
	if name, err := released(sha256.Sum256([]byte("another program")), sums, sums, key); err == nil {
		t.Errorf("another program is %s", name)
	}
	if _, err := released(program, strings.Replace(sums, "0", "1", 1), sums, key); !errors.Is(err, errUnsigned) {
		t.Errorf("a changed digest: %v", err)
	}
	if name, err := released(program, other, other, key); err == nil {
		t.Errorf("without its digest it is %s", name)
	}
	cut := fmt.Sprintf("%x\n", program)
	if name, err := released(program, cut, cut, key); err == nil {
		t.Errorf("by a cut line it is %s", name)
	}
	if _, err := Released(program, []byte(sums), nil, key); !errors.Is(err, errUnsigned) {
		t.Errorf("no signature: %v", err)
	}
	for name, bad := range map[string][]byte{"none": nil, "two": append(key, key...), "no PEM": der} {
		if _, err := released(program, sums, sums, bad); err == nil {
			t.Errorf("%s: a key was taken", name)
		}
	}
}

// TestDigest: the digest is that of the file that runs.
func TestDigest(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Digest(); err != nil || got != sha256.Sum256(text) {
		t.Errorf("%x, %v", got, err)
	}
}
