package keys

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"
)

// ageBinary is what the age tool writes without -a, with a cheap scrypt.
func ageBinary(t *testing.T, plain []byte, r age.Recipient) string {
	t.Helper()
	var b bytes.Buffer
	w, err := age.Encrypt(&b, r)
	must(t, err)
	if _, err := w.Write(plain); err != nil {
		t.Fatal(err)
	}
	must(t, w.Close())
	return b.String()
}

func scryptRecipient(t *testing.T, pass string) age.Recipient {
	t.Helper()
	r, err := age.NewScryptRecipient(pass)
	must(t, err)
	r.SetWorkFactor(4)
	return r
}

// TestReadAgeFile reads files that others encrypted.
func TestReadAgeFile(t *testing.T) {
	k, err := GenerateSigning("example.org/age")
	must(t, err)
	skey, pass := string(k.skey.Bytes()), NewSecret([]byte("swordfish"))
	armored, err := encrypt([]byte(skey+"\n"), pass, 4)
	must(t, err)
	for name, content := range map[string]string{
		"armored":      string(armored),
		"armored CRLF": strings.ReplaceAll(string(armored), "\n", "\r\n"),
		"binary":       ageBinary(t, []byte(skey+"\n"), scryptRecipient(t, "swordfish")),
		"in the clear": skey + "\n", // the passphrase is not used
	} {
		path := put(t, "key", content, 0o400)
		got, err := ReadSigning(path, pass)
		if err != nil || got.VKey() != k.VKey() {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if name == "in the clear" {
			continue
		}
		for _, wrong := range []Secret{{}, NewSecret([]byte("swordfis")), NewSecret([]byte("swordfish\n"))} {
			got, err := ReadSigning(path, wrong)
			if got != nil || !errors.Is(err, ErrPassphrase) || !strings.Contains(err.Error(), path) {
				t.Errorf("%s with a wrong passphrase: %v", name, err)
			}
		}
	}
}

// TestReadAgeFileForOthers: a file for a public key is no file for a passphrase.
func TestReadAgeFileForOthers(t *testing.T) {
	id, err := age.GenerateX25519Identity()
	must(t, err)
	path := put(t, "key", ageBinary(t, []byte("secret"), id.Recipient()), 0o600)
	if k, err := ReadSigning(path, NewSecret([]byte("pass"))); k != nil || err == nil {
		t.Error("accepted")
	}
}

// TestEncryptedFiles writes both kinds of key as an operator does, with the real cost of scrypt.
func TestEncryptedFiles(t *testing.T) {
	t.Parallel()
	dir, pass := t.TempDir(), NewSecret([]byte("a long passphrase"))
	k, err := GenerateSigning("example.org/encrypted")
	must(t, err)
	path := filepath.Join(dir, "signing.key")
	must(t, k.WriteFile(path, pass))
	b, err := os.ReadFile(path)
	must(t, err)
	if !bytes.HasPrefix(b, []byte("-----BEGIN AGE ENCRYPTED FILE-----\n")) || mode(t, path) != 0o600 {
		t.Errorf("mode %04o, content %s", mode(t, path), b)
	}
	for _, form := range secretForms(k.skey.Bytes()) {
		if bytes.Contains(b, []byte(form)) {
			t.Error("the key is in the clear")
		}
	}
	if got, err := ReadSigning(path, pass); err != nil || got.VKey() != k.VKey() {
		t.Error(err)
	}

	path = filepath.Join(dir, "sealing.key")
	sealing := GenerateSealing()
	must(t, WriteSealing(path, sealing, pass))
	if _, err := ReadSealing(path, Secret{}); !errors.Is(err, ErrPassphrase) {
		t.Errorf("without the passphrase: %v", err)
	}
	if got, err := ReadSealing(path, pass); err != nil || !bytes.Equal(got.Bytes(), sealing.Bytes()) {
		t.Error(err)
	}
}
