package player

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestParseBytes(t *testing.T) {
	t.Parallel()
	hexadecimal, base64 := strings.Repeat("ab", 32), "q6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s="
	for _, in := range []string{hexadecimal, strings.ToUpper(hexadecimal), base64} {
		if b, err := ParseBytes(in, 32); err != nil || [32]byte(b) != [32]byte([]byte(strings.Repeat("\xab", 32))) {
			t.Errorf("%s: %x, %v", in, b, err)
		}
	}
	// 48 bytes are 96 digits and 64 characters, which are 32 bytes as digits.
	if b, err := ParseBytes(strings.Repeat("abcd", 16), 48); err != nil || len(b) != 48 {
		t.Errorf("%x, %v", b, err)
	}
	for _, in := range []string{"", "secret", hexadecimal[1:], hexadecimal + "00", base64[:43], base64 + "\n",
		strings.Repeat("x", 64)} {
		if b, err := ParseBytes(in, 32); err == nil || in != "" && strings.Contains(err.Error(), in) {
			t.Errorf("%q: %x, %v", in, b, err)
		}
	}
}

// TestLongPolicy: a policy that is trusted may have 131,072 bytes, one in an entry fewer (docs/SPEC.md section 7.3).
func TestLongPolicy(t *testing.T) {
	name := filepath.Join(t.TempDir(), "policy")
	text := strings.Repeat("# "+strings.Repeat("x", 1021)+"\n", 127) + "quorum none\n"
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if trust, err := ReadTrust("", name, nil); err != nil || string(trust.Policy) != text {
		t.Errorf("%d of %d bytes, %v", len(trust.Policy), len(text), err)
	}
}
