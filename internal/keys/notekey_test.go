package keys

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
)

func TestParseVKey(t *testing.T) {
	v, err := audit.ParseVKey(exampleVKey)
	if err != nil || v.Name() != "PeterNeumann" || v.KeyHash() != 0xc74f20a3 {
		t.Errorf("%v, %v", v, err)
	}
	long, err := note.NewEd25519VerifierKey(strings.Repeat("o", 129), exampleKey(t))
	must(t, err)
	for name, vkey := range map[string]string{
		"empty":            "",
		"signing key":      exampleSKey,
		"other hash":       strings.Replace(exampleVKey, "c74f20a3", "c74f20a4", 1),
		"upper-case hash":  strings.Replace(exampleVKey, "c74f20a3", "C74F20A3", 1),
		"other name":       "x" + exampleVKey,
		"line end":         exampleVKey + "\n",
		"line end inside":  exampleVKey[:40] + "\n" + exampleVKey[40:],
		"CR inside":        exampleVKey[:40] + "\r" + exampleVKey[40:],
		"space":            exampleVKey + " ",
		"long name":        long,
		"no key":           "PeterNeumann+c74f20a3+",
		"a cosigner's key": cosigner(t),
	} {
		if v, err := audit.ParseVKey(vkey); v != nil || err == nil {
			t.Errorf("%s: accepted", name)
		}
		if strings.ContainsAny(vkey, "\n\r ") {
			continue // an editor adds these to a file
		}
		if got, err := ReadVKey(put(t, "vkey", vkey, 0o644)); got != "" || err == nil {
			t.Errorf("%s in a file: accepted", name)
		}
	}
	for _, text := range []string{exampleVKey + "\r\n", "\ufeff" + exampleVKey + "\n\n", "\n" + exampleVKey + " "} {
		if got, err := ReadVKey(put(t, "vkey", text, 0o644)); got != exampleVKey || err != nil {
			t.Errorf("%q in a file: %q, %v", text, got, err)
		}
	}
}

func exampleKey(t *testing.T) ed25519.PublicKey {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(strings.SplitN(exampleVKey, "+", 3)[2])
	must(t, err)
	return raw[1:]
}

// cosigner is a well-formed key of signature type 4 (C2SP tlog-cosignature).
func cosigner(t *testing.T) string {
	t.Helper()
	return "witness+5e2b1f39+" + base64.StdEncoding.EncodeToString(append([]byte{4}, exampleKey(t)...))
}

func TestNewSlot(t *testing.T) {
	t.Parallel()
	a, b := NewSlot(), NewSlot()
	if len(a.Bytes()) != SlotSize || len(b.Bytes()) != SlotSize || bytes.Equal(a.Bytes(), b.Bytes()) ||
		bytes.Equal(a.Bytes(), make([]byte, SlotSize)) {
		t.Errorf("%x and %x", a.Bytes(), b.Bytes())
	}
	if got := fmt.Sprintf("%v %x %+v", a, a, a); got != "[secret] [secret] [secret]" {
		t.Errorf("it prints as %s", got)
	}
}
