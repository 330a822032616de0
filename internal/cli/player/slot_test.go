package player

import (
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
