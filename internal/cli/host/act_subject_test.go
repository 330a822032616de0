package host

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"shuffled/internal/keys"
)

// TestLongestPolicy: a policy of 18 witnesses with ML-DSA-44 is read, and one of 19 is more
// than a ledger takes, which is said before an act is signed.
func TestLongestPolicy(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	file := filepath.Join(t.TempDir(), "witnesses.policy")
	for i := range 19 {
		key, err := keys.GenerateMLDSA(fmt.Sprintf("w%d.example.org/witness", i))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&text, "witness w%d %s\n", i, key.VKey())
		if err := os.WriteFile(file, []byte(text.String()+"quorum w0\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		c := &actSubject{Kind: "policy", Policy: file}
		_, err = c.keyBody("")
		if (err == nil) != (i < 18) || err != nil && !strings.Contains(err.Error(), "32768 bytes") {
			t.Errorf("%d witnesses: %v", i+1, err)
		}
	}
	if err := os.WriteFile(file, []byte("quorum nobody\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := (&actSubject{Kind: "policy", Policy: file}).keyBody(""); err == nil ||
		!strings.Contains(err.Error(), "nobody") {
		t.Errorf("a quorum of nobody: %v", err)
	}
}
