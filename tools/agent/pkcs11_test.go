//go:build cgo

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/miekg/pkcs11"
)

// softToken makes a token of SoftHSM, and returns the settings for it.
func softToken(t *testing.T) *settings {
	t.Helper()
	const library = "/usr/lib/softhsm/libsofthsm2.so"
	if _, err := os.Stat(library); err != nil {
		if os.Getenv("SHUFFLED_REQUIRE_SOFTHSM") == "1" {
			t.Fatal(err)
		}
		t.Skipf("SKIPPED, a test of keys in an HSM: no SoftHSM: run scripts/softhsm.sh: %v", err)
	}
	dir := t.TempDir()
	s := &settings{library: library, token: "house", pin: filepath.Join(dir, "pin"), sign: []string{"main"},
		wrap: "sealing"}
	put(t, s.pin, "1234\n")
	put(t, filepath.Join(dir, "conf"), "directories.tokendir = "+dir+"\nslots.mechanisms = ALL\n")
	t.Setenv("SOFTHSM2_CONF", filepath.Join(dir, "conf"))
	cmd := exec.Command("softhsm2-util", "--init-token", "--free", "--label", "house",
		"--pin", "1234", "--so-pin", "5678")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return s
}

// opened opens the token as at a start, and returns it or the first error.
func opened(s *settings) (*token, error) {
	all, err := openToken(s)
	if err != nil {
		return nil, err
	}
	t := all.(*token)
	_, err = t.Keys()
	return t, err
}

func refused(t *testing.T, s *settings, want string) {
	t.Helper()
	k, err := opened(s)
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("opening: %v, and not %q", err, want)
	}
	if k != nil {
		k.ctx.Finalize()
	}
}

// TestToken: a label without a key, a label with two keys, and a key that can leave the token are
// refused. A PIN that the token refused is not tried again.
func TestToken(t *testing.T) {
	s := softToken(t)
	refused(t, s, `key "main": there are 0`)
	s.generate = true
	if _, err := openToken(s); err != nil {
		t.Fatal(err)
	}
	if _, err := openToken(s); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("keys are made twice: %v", err)
	}
	s.generate = false

	k, err := opened(s)
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := k.Wrap([]byte("a secret"))
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := k.Unwrap(sealed); err != nil || string(plain) != "a secret" {
		t.Errorf("unwrapped: %q, %v", plain, err)
	}
	for i := range sealed {
		sealed[i] ^= 1
		if _, err := k.Unwrap(sealed); err == nil {
			t.Errorf("byte %d is not authenticated", i)
		}
		sealed[i] ^= 1
	}
	if _, err := k.Unwrap(sealed[:28]); err == nil {
		t.Error("no byte and a tag open")
	}
	k.ctx.CloseAllSessions(0) // no such slot: nothing happens
	k.ctx.CloseSession(k.session)
	if _, err := k.signed("main", []byte("a text")); err != nil {
		t.Errorf("a session that the HSM closed: %v", err)
	}
	k.handles = nil // as after the library could not be stopped
	if _, err := k.signed("main", []byte("a text")); err != nil {
		t.Errorf("a library that is started already: %v", err)
	}
	k.turn <- struct{}{}
	if _, err := k.signed("main", nil); err == nil || !strings.Contains(err.Error(), "busy") {
		t.Errorf("a token that hangs: %v", err)
	}
	<-k.turn
	k.ctx.Finalize()

	put(t, s.pin, "4321\n")
	wrong, err := openToken(s)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err = wrong.Keys(); !errors.Is(err, pkcs11.Error(pkcs11.CKR_PIN_INCORRECT)) {
			t.Fatalf("a wrong PIN: %v", err)
		}
		wrong.(*token).pin = "1234" // the right PIN
	}
	if !strings.Contains(err.Error(), "not tried again") {
		t.Error(err)
	}
	put(t, s.pin, "1234\n")

	// The test makes the objects that follow itself, because makeKeys makes no such keys.
	s.generate = true
	by := &token{settings: s, ctx: k.ctx, pin: "1234"}
	if err := by.login(); err != nil {
		t.Fatal(err)
	}
	for _, a := range []struct {
		label       string
		extractable bool
	}{{"loose", true}, {"twice", false}, {"twice", false}} {
		_, err := by.ctx.GenerateKey(by.session, []*pkcs11.Mechanism{pkcs11.NewMechanism(pkcs11.CKM_AES_KEY_GEN, nil)},
			[]*pkcs11.Attribute{pkcs11.NewAttribute(pkcs11.CKA_TOKEN, true), pkcs11.NewAttribute(pkcs11.CKA_VALUE_LEN, 32),
				pkcs11.NewAttribute(pkcs11.CKA_LABEL, a.label), pkcs11.NewAttribute(pkcs11.CKA_ENCRYPT, true),
				pkcs11.NewAttribute(pkcs11.CKA_SENSITIVE, true), pkcs11.NewAttribute(pkcs11.CKA_EXTRACTABLE, a.extractable)})
		if err != nil {
			t.Fatal(err)
		}
	}
	by.ctx.Finalize()
	s.generate = false
	for label, want := range map[string]string{
		"loose": "can leave the token", "twice": "there are 2", "none": "there are 0"} {
		s.wrap = label
		refused(t, s, want)
	}
	s.wrap, s.token = "", "home"
	refused(t, s, "0 tokens")
	s.token = "house"
	k, err = opened(s)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.Wrap([]byte("x")); err == nil || !strings.Contains(err.Error(), "-wrap was not given") {
		t.Errorf("wrapping without a key: %v", err)
	}
	k.ctx.Finalize()
	s.library = s.pin
	refused(t, s, "loads here")
}

// TestStays: a key stays in its token only if both attributes say so. An attribute without a value does not say so.
func TestStays(t *testing.T) {
	t.Parallel()
	for _, a := range []struct {
		sensitive, extractable []byte
		want                   bool
	}{
		{[]byte{1}, []byte{0}, true}, {[]byte{0}, []byte{0}, false}, {[]byte{1}, []byte{1}, false},
		{nil, []byte{0}, false}, {[]byte{1}, nil, false}, {[]byte{}, []byte{}, false},
	} {
		got := stays([]*pkcs11.Attribute{{Type: pkcs11.CKA_SENSITIVE, Value: a.sensitive},
			{Type: pkcs11.CKA_EXTRACTABLE, Value: a.extractable}})
		if got != a.want {
			t.Errorf("sensitive %x, extractable %x: %t", a.sensitive, a.extractable, got)
		}
	}
}
