package keys

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"shuffled/internal/stops"
)

// A published P-256 key pair (CFRG's vector for HPKE; no key of ours).
const (
	examplePrivate = "317f915db7bc629c48fe765587897e01e282d3e8445f79f27f65d031a88082b2"
	examplePublic  = "04abc7e49a4c6b3566d77d0304addc6ed0e98512ffccf505e6a8e3eb25c685136f853148544876de76c0f2ef99cdc3a05ccf5ded7860c7c021238f9e2073d2356c"
)

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	must(t, err)
	return b
}

func TestAuditorFiles(t *testing.T) {
	t.Parallel() // scrypt takes its time
	dir, seen := t.TempDir(), map[string]bool{}
	for _, pass := range []Secret{{}, NewSecret([]byte("a long passphrase"))} {
		k, err := GenerateAuditor()
		must(t, err)
		sub := t.TempDir()
		private, public := filepath.Join(sub, "auditor.key"), filepath.Join(sub, "auditor.pub")
		must(t, k.WriteFile(private, pass))
		must(t, WriteAuditorPublic(public, k.Public()))
		if mode(t, private) != 0o600 || mode(t, public) != 0o644 {
			t.Errorf("modes %04o and %04o", mode(t, private), mode(t, public))
		}
		got, err := ReadAuditor(private, pass)
		if err != nil || !bytes.Equal(got.Private().Bytes(), k.Private().Bytes()) ||
			!bytes.Equal(got.Public(), k.Public()) {
			t.Errorf("reading back: %v", err)
		}
		read, err := ReadAuditorPublic(public)
		if err != nil || !bytes.Equal(read, k.Public()) || len(read) != 1250 || read[0] != 2 {
			t.Errorf("reading %x: %v", read, err)
		}
		text, err := os.ReadFile(public)
		if err != nil || string(text) != k.String()+"\n" {
			t.Errorf("the public file is %q, %v", text, err)
		}
		text, err = os.ReadFile(private)
		must(t, err)
		if clear := strings.HasPrefix(string(text), "shuffled-auditor-key:v1:"); clear != pass.Empty() {
			t.Errorf("in the clear: %t", clear)
		}
		if !pass.Empty() {
			if _, err := ReadAuditor(private, Secret{}); !errors.Is(err, ErrPassphrase) {
				t.Errorf("without the passphrase: %v", err)
			}
		}
		// Nothing is overwritten.
		if err := k.WriteFile(private, pass); !errors.Is(err, fs.ErrExist) {
			t.Errorf("writing again: %v", err)
		}
		if err := WriteAuditorPublic(public, k.Public()); !errors.Is(err, fs.ErrExist) {
			t.Errorf("writing again: %v", err)
		}
		clear(read)
		clear(k.Public()) // the caller's copy
		if k.Public()[0] != 2 {
			t.Error("Public gives its own bytes away")
		}
		must(t, os.Chmod(private, 0o640))
		if _, err := ReadAuditor(private, pass); !errors.Is(err, stops.Mode) {
			t.Errorf("a key that the group may read: %v", err)
		}
		seen[k.String()] = true
	}
	if len(seen) != 2 {
		t.Error("two keys are the same")
	}
	if err := WriteAuditorPublic(filepath.Join(dir, "bad"), []byte{1, 4}); err == nil {
		t.Error("a file was written for no key")
	}
}

func TestReadAuditorExample(t *testing.T) {
	private, public := unhex(t, examplePrivate), append([]byte{1}, unhex(t, examplePublic)...)
	seed := append([]byte{2}, private...)
	hybrid, err := ReadAuditor(put(t, "hybrid", "shuffled-auditor-key:v1:"+base64.StdEncoding.EncodeToString(seed)+"\n",
		0o600), Secret{})
	if err != nil || !bytes.Equal(hybrid.Private().Bytes(), seed) || len(hybrid.Public()) != 1250 {
		t.Errorf("%v, %v", hybrid, err)
	}
	k, err := ReadAuditor(put(t, "key", "shuffled-auditor-key:v1:"+base64.StdEncoding.EncodeToString(append([]byte{1}, private...))+"\n",
		0o600), Secret{})
	if err != nil || !bytes.Equal(k.Public(), public) {
		t.Errorf("%v, %v", k, err)
	}
	got, err := ReadAuditorPublic(put(t, "pub", "shuffled-auditor:v1:"+base64.StdEncoding.EncodeToString(public)+"\r\n",
		0o644))
	if err != nil || !bytes.Equal(got, public) {
		t.Errorf("%x, %v", got, err)
	}
}

// TestReadAuditorRefuses: what is not exactly a key is no key, and its text stands in no error.
func TestReadAuditorRefuses(t *testing.T) {
	private, public := unhex(t, examplePrivate), append([]byte{1}, unhex(t, examplePublic)...)
	good := base64.StdEncoding.EncodeToString(private)
	with := func(i int, v byte) string {
		b := bytes.Clone(public)
		b[i] = v
		return "shuffled-auditor:v1:" + base64.StdEncoding.EncodeToString(b)
	}
	for name, text := range map[string]string{
		"nothing":         "",
		"no prefix":       good,
		"a sealing key":   "shuffled-sealing-key:v1:" + good,
		"the public line": with(0, 1),
		"version 2":       "shuffled-auditor-key:v2:" + good,
		"two lines":       "shuffled-auditor-key:v1:" + good + "\n\n",
		"a line end":      "shuffled-auditor-key:v1:" + good[:20] + "\n" + good[20:],
		"spare bits":      "shuffled-auditor-key:v1:" + good[:len(good)-2] + "J=",
		"without padding": "shuffled-auditor-key:v1:" + strings.TrimRight(good, "="),
		"31 bytes":        "shuffled-auditor-key:v1:" + base64.StdEncoding.EncodeToString(private[1:]),
		"zero":            "shuffled-auditor-key:v1:" + base64.StdEncoding.EncodeToString(make([]byte, 32)),
		"above the order": "shuffled-auditor-key:v1:" +
			base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{255}, 32)),
		"a type alone":     "shuffled-auditor-key:v1:Ag==",
		"type 3":           "shuffled-auditor-key:v1:" + base64.StdEncoding.EncodeToString(append([]byte{3}, private...)),
		"a space in front": " shuffled-auditor-key:v1:" + good,
	} {
		path := put(t, "key", text, 0o600)
		k, err := ReadAuditor(path, Secret{})
		if k != nil || err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if strings.Contains(err.Error(), good[:12]) || strings.Contains(err.Error(), good[20:32]) {
			t.Errorf("%s: the error holds the key", name)
		}
	}
	for name, text := range map[string]string{
		"a private key":   "shuffled-auditor-key:v1:" + good,
		"another type":    with(0, 2),
		"off the curve":   with(66-1, public[65]^1),
		"compressed":      "shuffled-auditor:v1:" + base64.StdEncoding.EncodeToString(append([]byte{1, 2}, public[2:34]...)),
		"a byte too many": "shuffled-auditor:v1:" + base64.StdEncoding.EncodeToString(append(public, 0)),
	} {
		path := put(t, "pub", text, 0o644)
		if b, err := ReadAuditorPublic(path); b != nil || err == nil || !strings.Contains(err.Error(), path) ||
			strings.Contains(err.Error(), good[:12]) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAuditorKeyIsNotPrinted(t *testing.T) {
	k, err := GenerateAuditor()
	must(t, err)
	type hidden struct{ k *AuditorKey }
	type value struct{ k AuditorKey }
	out := printAll(k, *k, hidden{k}, value{*k}, []*AuditorKey{k})
	for _, form := range secretForms(k.Private().Bytes()) {
		if strings.Contains(out, form) {
			t.Errorf("printed as %q", form)
		}
	}
	if !strings.Contains(out, k.String()) {
		t.Error("the public line is not printed")
	}
}
