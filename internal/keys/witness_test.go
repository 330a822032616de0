package keys

import (
	"bytes"
	"crypto"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/torchwood"
	fnote "github.com/transparency-dev/formats/note"

	"shuffled/internal/audit"
)

func TestGenerateWitness(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range []string{"w", "witness.example.org/table-games/w1", strings.Repeat("w", 128)} {
		for range 2 {
			k, err := GenerateWitness(name)
			must(t, err)
			if k.Name() != name || !strings.HasPrefix(k.VKey(), name+"+") {
				t.Errorf("%q, %s", k.Name(), k.VKey())
			}
			if v, err := audit.ParseWitnessVKey(k.VKey()); err != nil || v.Name() != name {
				t.Error(err)
			}
			if _, err := audit.ParseVKey(k.VKey()); err == nil {
				t.Error("the key of a witness passes for a ledger's")
			}
			// Two libraries name the same verifier key for the private half.
			theirs, err := torchwood.NewCosignatureSigner(name, k.Signer())
			if err != nil || theirs.Verifier().String() != k.VKey() {
				t.Errorf("torchwood: %v, %v, want %s", theirs.Verifier(), err, k.VKey())
			}
			formats, err := fnote.NewSignerForCosignatureV1(string(k.skey.Bytes()))
			if err != nil || formats.KeyHash() != theirs.KeyHash() || formats.Name() != name {
				t.Errorf("formats: %v", err)
			}
			sig, err := k.Signer().Sign(nil, []byte("message"), crypto.Hash(0))
			if err != nil || !ed25519.Verify(k.Signer().Public().(ed25519.PublicKey), []byte("message"), sig) {
				t.Errorf("signer: %v", err)
			}
			seen[k.VKey()] = true
		}
	}
	if len(seen) != 6 {
		t.Errorf("%d different keys of 6", len(seen))
	}
	for _, name := range []string{"", "two words", "a+b", "line\n", "\xff", "Capital", strings.Repeat("w", 129)} {
		if k, err := GenerateWitness(name); k != nil || err == nil {
			t.Errorf("name %q: %v", name, err)
		}
	}
}

func TestWitnessFiles(t *testing.T) {
	k, err := GenerateWitness("witness.example.org/w")
	must(t, err)
	dir := t.TempDir()
	for _, passphrase := range []Secret{{}, NewSecret([]byte("correct horse"))} {
		path := filepath.Join(dir, fmt.Sprint("key", passphrase.Empty()))
		must(t, k.WriteFile(path, passphrase))
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info, err)
		}
		again, err := ReadWitness(path, passphrase)
		if err != nil || again.VKey() != k.VKey() || !again.key.Equal(k.key) {
			t.Errorf("%v, %v", again, err)
		}
		if err := k.WriteFile(path, passphrase); !errors.Is(err, fs.ErrExist) {
			t.Errorf("written over: %v", err)
		}
	}
	if _, err := ReadWitness(filepath.Join(dir, "keyfalse"), Secret{}); !errors.Is(err, ErrPassphrase) {
		t.Errorf("without the passphrase: %v", err)
	}
	public := filepath.Join(dir, "vkey")
	must(t, k.WriteVKey(public))
	if vkey, err := ReadWitnessVKey(public); err != nil || vkey != k.VKey() {
		t.Errorf("%s, %v", vkey, err)
	}
	if _, err := ReadVKey(public); err == nil {
		t.Error("read as the verifier key of a ledger")
	}
	if _, err := ReadWitnessVKey(filepath.Join(dir, "keytrue")); err == nil {
		t.Error("a private key read as a public one")
	}
}

// TestWitnessFileRefused damages the text of a key file, and sees that no error shows any of it.
func TestWitnessFileRefused(t *testing.T) {
	k, err := GenerateWitness("w")
	for err == nil && strings.Count(string(k.skey.Bytes()), "+") != 4 {
		k, err = GenerateWitness("w") // the key itself without a plus sign
	}
	must(t, err)
	text := string(k.skey.Bytes())
	secret := base64.StdEncoding.EncodeToString(k.key.Seed())[4:20]
	parts := strings.SplitN(text, "+", 5)
	try := func(name, text string) {
		t.Helper()
		path := filepath.Join(t.TempDir(), "key")
		must(t, os.WriteFile(path, []byte(text+"\n"), 0o600))
		k, err := ReadWitness(path, Secret{})
		if err == nil {
			t.Errorf("%s: read as %s", name, k)
			return
		}
		if raw := parts[4][8:24]; strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), raw) {
			t.Errorf("%s: the error shows the key: %v", name, err)
		}
	}
	for i := range text {
		changed := []byte(text)
		changed[i] ^= 1
		try(fmt.Sprintf("bit of byte %d", i), string(changed))
	}
	raw, _ := base64.StdEncoding.DecodeString(parts[4])
	as := func(alg byte, seed []byte) string {
		return strings.Join(parts[:4], "+") + "+" + base64.StdEncoding.EncodeToString(append([]byte{alg}, seed...))
	}
	try("empty", "")
	try("no separators", strings.ReplaceAll(text, "+", "*"))
	try("no key", strings.Join(parts[:4], "+"))
	try("key of a ledger", as(1, raw[1:]))
	try("short", as(4, raw[1:32]))
	try("long", as(4, append(raw[1:], 0)))
	try("a line end inside", text[:len(text)-10]+"\n"+text[len(text)-10:])
	try("upper-case hash", strings.Replace(text, parts[3], strings.ToUpper(parts[3])+"A", 1))
	try("another name", strings.Replace(text, "+w+", "+v+", 1))
	ledger, err := GenerateSigning("w")
	must(t, err)
	try("signing key", string(ledger.skey.Bytes()))
}

func TestWitnessKeyPrintsItsVKey(t *testing.T) {
	k, err := GenerateWitness("w")
	must(t, err)
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d"} {
		fmt.Fprintf(&out, verb, k)
	}
	slog.New(slog.NewTextHandler(&out, nil)).Info("key", "key", k)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("key", "key", k)
	if n := strings.Count(out.String(), k.VKey()); n != 8 {
		t.Errorf("the verifier key shows %d times of 8: %s", n, out.String())
	}
	seed := k.key.Seed()
	for _, secret := range []string{fmt.Sprint(seed[:8])[1:20], fmt.Sprintf("%x", seed[:8]),
		base64.StdEncoding.EncodeToString(seed)[:10]} {
		if strings.Contains(out.String(), secret) {
			t.Errorf("%q shows", secret)
		}
	}
}
