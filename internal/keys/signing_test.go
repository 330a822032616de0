package keys

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
	"shuffled/internal/stops"
)

// The published example key of the signed-note package.
const (
	exampleSKey = "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz"
	exampleVKey = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
)

func TestGenerateSigning(t *testing.T) {
	seen := map[string]bool{}
	for _, origin := range []string{"main", "example.org/table-games/roulette", strings.Repeat("o", 128)} {
		for range 2 {
			k, err := GenerateSigning(origin)
			must(t, err)
			if k.Origin() != origin || k.Signer().Name() != origin || !strings.HasPrefix(k.VKey(), origin+"+") {
				t.Errorf("origin %q, signer %q, %s", k.Origin(), k.Signer().Name(), k.VKey())
			}
			v, err := note.NewVerifier(k.VKey())
			must(t, err)
			signed, err := note.Sign(&note.Note{Text: "text\n"}, k.Signer())
			must(t, err)
			if _, err := note.Open(signed, note.VerifierList(v)); err != nil {
				t.Error(err)
			}
			public := k.Public()
			if len(public) != 33 || public[0] != 1 {
				t.Errorf("public key %x", public)
			}
			again, err := note.NewEd25519VerifierKey(origin, ed25519.PublicKey(public[1:]))
			if err != nil || again != k.VKey() {
				t.Errorf("%s, want %s, %v", again, k.VKey(), err)
			}
			clear(public) // the caller's copy
			if bytes.Equal(k.Public(), public) {
				t.Error("Public gives its own bytes away")
			}
			seen[k.VKey()] = true
		}
	}
	if len(seen) != 6 {
		t.Errorf("%d different keys of 6", len(seen))
	}
}

func TestGenerateSigningRefuses(t *testing.T) {
	for _, origin := range []string{"", "two words", "a+b", "line\n", "\xff", strings.Repeat("o", 129)} {
		if k, err := GenerateSigning(origin); k != nil || err == nil ||
			!strings.Contains(err.Error(), fmt.Sprintf("%q", origin)) {
			t.Errorf("origin %q: %v", origin, err)
		}
	}
}

func TestSigningFiles(t *testing.T) {
	dir := t.TempDir()
	k, err := GenerateSigning("example.org/files")
	must(t, err)
	private, public := filepath.Join(dir, "key"), filepath.Join(dir, "key.vkey")
	must(t, k.WriteFile(private, Secret{}))
	must(t, k.WriteVKey(public))
	if mode(t, private) != 0o600 || mode(t, public) != 0o644 {
		t.Errorf("modes %04o and %04o", mode(t, private), mode(t, public))
	}
	got, err := ReadSigning(private, Secret{})
	if err != nil || got.VKey() != k.VKey() || !bytes.Equal(got.Public(), k.Public()) {
		t.Errorf("reading back: %v", err)
	}
	if vkey, err := ReadVKey(public); err != nil || vkey != k.VKey() {
		t.Errorf("reading %q: %v", vkey, err)
	}
	text, err := os.ReadFile(private)
	must(t, err)
	if signer, err := note.NewSigner(strings.TrimSuffix(string(text), "\n")); err != nil ||
		signer.KeyHash() != k.Signer().KeyHash() {
		t.Errorf("the file is not for x/mod: %v", err)
	}
	// Nothing is overwritten.
	if err := k.WriteFile(private, Secret{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("writing again: %v", err)
	}
	if err := k.WriteVKey(public); !errors.Is(err, fs.ErrExist) {
		t.Errorf("writing again: %v", err)
	}
	must(t, os.Chmod(private, 0o640))
	if _, err := ReadSigning(private, Secret{}); !errors.Is(err, stops.Mode) {
		t.Errorf("a key that the group may read: %v", err)
	}
}

func TestReadSigningExample(t *testing.T) {
	k, err := ReadSigning(put(t, "key", exampleSKey, 0o600), Secret{})
	if err != nil || k.VKey() != exampleVKey || k.Origin() != "PeterNeumann" {
		t.Errorf("%v, %v", k, err)
	}
}

// TestReadSigningRefuses: damaged files, and nothing of them in the errors.
func TestReadSigningRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"empty":              "",
		"verifier key":       exampleVKey,
		"other hash":         strings.Replace(exampleSKey, "c74f20a3", "c74f20a4", 1),
		"other name":         strings.Replace(exampleSKey, "Peter", "Paul", 1),
		"other key":          strings.Replace(exampleSKey, "AYEKFA", "AYEKFB", 1),
		"other type":         strings.Replace(exampleSKey, "AYEKFA", "AoEKFA", 1),
		"cut off":            exampleSKey[:len(exampleSKey)-4],
		"two lines":          exampleSKey + "\n" + exampleSKey,
		"line end inside":    exampleSKey[:60] + "\n" + exampleSKey[60:],
		"space in front":     " " + exampleSKey,
		"one part less":      strings.Replace(exampleSKey, "PRIVATE+", "", 1),
		"a sealing key":      sealingPrefix + base64.StdEncoding.EncodeToString(make([]byte, 32)),
		"an empty age file":  binaryHeader,
		"not even text":      "\x00\xff",
		"two line ends":      exampleSKey + "\n\n",
		"a byte too many":    exampleSKey + "AAAA",
		"lower-case private": strings.Replace(exampleSKey, "PRIVATE", "private", 1),
	} {
		k, err := ReadSigning(put(t, "key", text, 0o600), NewSecret([]byte("pass")))
		if k != nil || err == nil {
			t.Errorf("%s: accepted", name)
			continue
		}
		if strings.Contains(err.Error(), "AYEKF") || strings.Contains(err.Error(), "Y7hfZx09") {
			t.Errorf("%s: the error %q holds key text", name, err)
		}
	}
}

func TestSigningKeyIsNotPrinted(t *testing.T) {
	k, err := parseSigning([]byte(exampleSKey))
	must(t, err)
	type hidden struct{ k SigningKey }
	out := printAll(k, *k, hidden{*k}, &hidden{*k}, []*SigningKey{k}, k.Signer())
	raw, err := base64.StdEncoding.DecodeString("AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz")
	must(t, err)
	for _, form := range append(secretForms(raw[1:]), secretForms([]byte(exampleSKey))...) {
		if strings.Contains(out, form) {
			t.Errorf("printed as %q", form)
		}
	}
	if !strings.Contains(out, exampleVKey) {
		t.Error("the verifier key is not printed")
	}
}

func TestSealingFiles(t *testing.T) {
	dir := t.TempDir()
	a, b := GenerateSealing(), GenerateSealing()
	if len(a.Bytes()) != 32 || bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Fatal("not 32 fresh bytes")
	}
	path := filepath.Join(dir, "sealing.key")
	must(t, WriteSealing(path, a, Secret{}))
	text, err := os.ReadFile(path)
	want := "shuffled-sealing-key:v1:" + base64.StdEncoding.EncodeToString(a.Bytes()) + "\n"
	if err != nil || string(text) != want || mode(t, path) != 0o600 {
		t.Errorf("mode %04o, %v", mode(t, path), err)
	}
	if got, err := ReadSealing(path, Secret{}); err != nil || !bytes.Equal(got.Bytes(), a.Bytes()) {
		t.Error(err)
	}
	if err := WriteSealing(path, b, Secret{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("writing again: %v", err)
	}
	for _, n := range []int{0, 31, 33} {
		if err := WriteSealing(filepath.Join(dir, "short"), NewSecret(make([]byte, n)), Secret{}); err == nil {
			t.Errorf("a key of %d bytes was written", n)
		}
	}
}

func TestReadSealingRefuses(t *testing.T) {
	good := sealingPrefix + base64.StdEncoding.EncodeToString([]byte("0123456789abcdef0123456789ABCDEF"))
	if _, err := ReadSealing(put(t, "key", good, 0o600), Secret{}); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"empty":            "",
		"other version":    strings.Replace(good, "v1", "v2", 1),
		"no prefix":        strings.TrimPrefix(good, sealingPrefix),
		"31 bytes":         sealingPrefix + base64.StdEncoding.EncodeToString(make([]byte, 31)),
		"33 bytes":         sealingPrefix + base64.StdEncoding.EncodeToString(make([]byte, 33)),
		"no padding":       strings.TrimSuffix(good, "="),
		"url alphabet":     sealingPrefix + base64.URLEncoding.EncodeToString(bytes.Repeat([]byte{0xff}, 32)),
		"spare bits set":   strings.Replace(good, "Y=", "Z=", 1),
		"line end inside":  good[:40] + "\n" + good[40:],
		"two lines":        good + "\n" + good,
		"two line ends":    good + "\n\n",
		"space at the end": good + " ",
		"a signing key":    exampleSKey,
	} {
		if text == good {
			t.Fatalf("%s: the case is not bad", name)
		}
		s, err := ReadSealing(put(t, "key", text, 0o600), Secret{})
		if err == nil || !s.Empty() {
			t.Errorf("%s: accepted", name)
			continue
		}
		if strings.Contains(err.Error(), "MDEyMzQ1") {
			t.Errorf("%s: the error %q holds key text", name, err)
		}
	}
	if _, err := ReadSealing(put(t, "key", good, 0o604), Secret{}); !errors.Is(err, stops.Mode) {
		t.Errorf("a key that others may read: %v", err)
	}
}

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
		"a cosigner's key": "witness+5e2b1f39+" + base64.StdEncoding.EncodeToString(append([]byte{4}, exampleKey(t)...)),
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
