//go:build cgo

package main

import (
	"bytes"
	"crypto/rand"
	"encoding/asn1"
	"errors"
	"fmt"
	"time"

	"github.com/miekg/pkcs11"
)

// Numbers of PKCS#11 3.1 that the Go library has no names for.
const (
	ckkEdwards     = 0x40   // CKK_EC_EDWARDS
	ckmEdwardsPair = 0x1055 // CKM_EC_EDWARDS_KEY_PAIR_GEN
	ckmEdDSA       = 0x1057 // CKM_EDDSA
)

// Sizes of AES-GCM.
const (
	nonceSize = 12  // bytes
	tagBits   = 128 // bits
)

// oidEd25519 is id-Ed25519 (RFC 8410) in DER.
var oidEd25519 = []byte{6, 3, 43, 101, 112}

// A token is a PKCS#11 token. One call runs at a time. An error ends the session, and a new one is
// opened, so a session that the HSM closed causes no outage.
type token struct {
	*settings
	ctx  *pkcs11.Ctx
	pin  string
	turn chan struct{}

	session pkcs11.SessionHandle
	handles map[string]pkcs11.ObjectHandle // nil if there is no session
	refused error                          // set if the PIN was refused: another try could lock the token
}

func openToken(s *settings) (store, error) {
	pin, err := secret(s.pin)
	if err != nil {
		return nil, fmt.Errorf("reading the PIN: %w", err)
	}
	t := &token{settings: s, ctx: pkcs11.New(s.library), pin: pin, turn: make(chan struct{}, 1)}
	if t.ctx == nil {
		return nil, fmt.Errorf("%s is no PKCS#11 library that loads here", s.library)
	}
	if s.generate {
		return t, t.makeKeys()
	}
	return t, nil
}

// do runs f in a session. If f fails in a session of an earlier call, it runs once more in a new one.
func (t *token) do(f func() error) error {
	select {
	case t.turn <- struct{}{}:
		defer func() { <-t.turn }()
	case <-time.After(patience):
		return fmt.Errorf("the token was busy for %s", patience)
	}
	for {
		fresh := t.handles == nil
		err := t.refused
		if err == nil && fresh {
			err = t.connect()
		}
		if err == nil {
			err = f()
		}
		if err == nil {
			return nil
		}
		if t.handles != nil {
			t.ctx.Finalize() // closes every session
			t.handles = nil
		}
		if fresh {
			return fmt.Errorf("token %q: %w", t.token, err)
		}
	}
}

// connect logs in, finds the keys, and refuses a key that can leave the token.
func (t *token) connect() (err error) {
	if err := t.login(); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			t.ctx.Finalize()
		}
	}()
	handles := map[string]pkcs11.ObjectHandle{}
	for _, label := range t.sign {
		if handles[label], err = t.find(pkcs11.CKO_PRIVATE_KEY, ckkEdwards, label); err != nil {
			return err
		}
	}
	if t.wrap != "" {
		if handles[t.wrap], err = t.find(pkcs11.CKO_SECRET_KEY, pkcs11.CKK_AES, t.wrap); err != nil {
			return err
		}
	}
	for label, handle := range handles {
		got, err := t.ctx.GetAttributeValue(t.session, handle, []*pkcs11.Attribute{
			pkcs11.NewAttribute(pkcs11.CKA_SENSITIVE, nil), pkcs11.NewAttribute(pkcs11.CKA_EXTRACTABLE, nil)})
		if err != nil {
			return fmt.Errorf("reading the attributes of key %q: %w", label, err)
		}
		if !stays(got) {
			return fmt.Errorf("key %q can leave the token: it must be sensitive and not extractable", label)
		}
	}
	t.handles = handles
	return nil
}

// stays reports whether a key is sensitive and not extractable. A token may return an attribute
// without a value; the key then does not count as one that stays.
func stays(got []*pkcs11.Attribute) bool {
	return bytes.Equal(got[0].Value, []byte{1}) && bytes.Equal(got[1].Value, []byte{0})
}

// login opens a session of the user. If the token refuses the PIN, login sets refused, and the PIN is not tried again.
func (t *token) login() error {
	// If the token was gone, the library could not be stopped, and is still started.
	if err := t.ctx.Initialize(); err != nil && err != pkcs11.Error(pkcs11.CKR_CRYPTOKI_ALREADY_INITIALIZED) {
		return fmt.Errorf("starting %s: %w", t.library, err)
	}
	err := t.enter()
	if err != nil {
		t.ctx.Finalize()
	}
	if errors.Is(err, pkcs11.Error(pkcs11.CKR_PIN_INCORRECT)) || errors.Is(err, pkcs11.Error(pkcs11.CKR_PIN_LOCKED)) {
		t.refused = fmt.Errorf("%w; it is not tried again until the program is started again", err)
	}
	return err
}

func (t *token) enter() error {
	slots, err := t.ctx.GetSlotList(true)
	if err != nil {
		return fmt.Errorf("listing slots: %w", err)
	}
	var with []uint
	for _, slot := range slots {
		if info, err := t.ctx.GetTokenInfo(slot); err == nil && info.Label == t.token {
			with = append(with, slot)
		}
	}
	if len(with) != 1 {
		return fmt.Errorf("%d tokens have the label, and exactly one must have it", len(with))
	}
	flags := uint(pkcs11.CKF_SERIAL_SESSION)
	if t.generate {
		flags |= pkcs11.CKF_RW_SESSION
	}
	if t.session, err = t.ctx.OpenSession(with[0], flags); err != nil {
		return fmt.Errorf("opening a session: %w", err)
	}
	err = t.ctx.Login(t.session, pkcs11.CKU_USER, t.pin)
	if err != nil && err != pkcs11.Error(pkcs11.CKR_USER_ALREADY_LOGGED_IN) {
		return fmt.Errorf("logging in: %w", err)
	}
	return nil
}

// find returns the object of this class, key type and label. It is an error if there is not exactly one.
func (t *token) find(class, kind uint, label string) (pkcs11.ObjectHandle, error) {
	err := t.ctx.FindObjectsInit(t.session, []*pkcs11.Attribute{
		pkcs11.NewAttribute(pkcs11.CKA_CLASS, class),
		pkcs11.NewAttribute(pkcs11.CKA_KEY_TYPE, kind),
		pkcs11.NewAttribute(pkcs11.CKA_LABEL, label)})
	if err != nil {
		return 0, fmt.Errorf("looking for key %q: %w", label, err)
	}
	found, _, err := t.ctx.FindObjects(t.session, 2)
	if end := t.ctx.FindObjectsFinal(t.session); err == nil {
		err = end
	}
	if err == nil && len(found) != 1 {
		err = fmt.Errorf("there are %d keys of its type and label, and there must be exactly one", len(found))
	}
	if err != nil {
		return 0, fmt.Errorf("looking for key %q: %w", label, err)
	}
	return found[0], nil
}

// Keys returns the keys of -sign. The public half of each is an object of the token with the same label.
func (t *token) Keys() (keys []*key, err error) {
	err = t.do(func() error {
		keys = nil
		for _, label := range t.sign {
			handle, err := t.find(pkcs11.CKO_PUBLIC_KEY, ckkEdwards, label)
			if err != nil {
				return err
			}
			got, err := t.ctx.GetAttributeValue(t.session, handle,
				[]*pkcs11.Attribute{pkcs11.NewAttribute(pkcs11.CKA_EC_POINT, nil)})
			if err != nil {
				return fmt.Errorf("reading the public key %q: %w", label, err)
			}
			// PKCS#11 says an OCTET STRING; some libraries give the 32 bytes themselves.
			public := got[0].Value
			if rest, err := asn1.Unmarshal(got[0].Value, &public); err != nil || len(rest) > 0 {
				public = got[0].Value
			}
			if len(public) != 32 {
				return fmt.Errorf("the public key %q has %d bytes: Ed25519 has 32", label, len(public))
			}
			keys = append(keys, &key{label, public, func(message []byte) ([]byte, error) {
				return t.signed(label, message)
			}})
		}
		return nil
	})
	return keys, err
}

func (t *token) signed(label string, message []byte) (sig []byte, err error) {
	err = t.do(func() (err error) {
		mechanism := []*pkcs11.Mechanism{pkcs11.NewMechanism(ckmEdDSA, nil)}
		if err = t.ctx.SignInit(t.session, mechanism, t.handles[label]); err == nil {
			sig, err = t.ctx.Sign(t.session, message)
		}
		return err
	})
	return sig, err
}

// Wrap seals a secret with AES-256-GCM. The result is the nonce that the token used, and then the
// ciphertext with its tag.
func (t *token) Wrap(plain []byte) (sealed []byte, err error) {
	nonce := make([]byte, nonceSize)
	rand.Read(nonce) // never fails (crypto/rand)
	err = t.gcm(nonce, func(m []*pkcs11.Mechanism, p *pkcs11.GCMParams) error {
		err := t.ctx.EncryptInit(t.session, m, t.handles[t.wrap])
		if err == nil {
			sealed, err = t.ctx.Encrypt(t.session, plain)
			sealed = append(p.IV(), sealed...) // some tokens choose the nonce themselves
		}
		return err
	})
	return sealed, err
}

// Unwrap opens a result of Wrap.
func (t *token) Unwrap(sealed []byte) (plain []byte, err error) {
	if len(sealed) <= nonceSize+tagBits/8 {
		return nil, errors.New("the sealed secret is too short")
	}
	err = t.gcm(sealed[:nonceSize], func(m []*pkcs11.Mechanism, _ *pkcs11.GCMParams) error {
		err := t.ctx.DecryptInit(t.session, m, t.handles[t.wrap])
		if err == nil {
			plain, err = t.ctx.Decrypt(t.session, sealed[nonceSize:])
		}
		return err
	})
	return plain, err
}

func (t *token) gcm(nonce []byte, f func([]*pkcs11.Mechanism, *pkcs11.GCMParams) error) error {
	if t.wrap == "" {
		return errors.New("there is no key to wrap with: -wrap was not given")
	}
	return t.do(func() error {
		p := pkcs11.NewGCMParams(nonce, []byte(envelope), tagBits)
		defer p.Free()
		return f([]*pkcs11.Mechanism{pkcs11.NewMechanism(pkcs11.CKM_AES_GCM, p)}, p)
	})
}

// makeKeys makes the keys that -sign and -wrap name. It stops at a name that already has a key.
func (t *token) makeKeys() error {
	if err := t.login(); err != nil {
		return err
	}
	defer t.ctx.Finalize()
	inside := func(label string, more ...*pkcs11.Attribute) []*pkcs11.Attribute {
		return append(more, pkcs11.NewAttribute(pkcs11.CKA_TOKEN, true), pkcs11.NewAttribute(pkcs11.CKA_LABEL, label))
	}
	private := func(label string, more ...*pkcs11.Attribute) []*pkcs11.Attribute {
		return inside(label, append(more, pkcs11.NewAttribute(pkcs11.CKA_PRIVATE, true),
			pkcs11.NewAttribute(pkcs11.CKA_SENSITIVE, true), pkcs11.NewAttribute(pkcs11.CKA_EXTRACTABLE, false))...)
	}
	for _, label := range t.sign {
		if _, err := t.find(pkcs11.CKO_PRIVATE_KEY, ckkEdwards, label); err == nil {
			return fmt.Errorf("there is a key %q already", label)
		}
		_, _, err := t.ctx.GenerateKeyPair(t.session,
			[]*pkcs11.Mechanism{pkcs11.NewMechanism(ckmEdwardsPair, nil)},
			inside(label, pkcs11.NewAttribute(pkcs11.CKA_EC_PARAMS, oidEd25519),
				pkcs11.NewAttribute(pkcs11.CKA_VERIFY, true)),
			private(label, pkcs11.NewAttribute(pkcs11.CKA_SIGN, true)))
		if err != nil {
			return fmt.Errorf("making the pair %q of Ed25519: %w", label, err)
		}
	}
	if t.wrap == "" {
		return nil
	}
	if _, err := t.find(pkcs11.CKO_SECRET_KEY, pkcs11.CKK_AES, t.wrap); err == nil {
		return fmt.Errorf("there is a key %q already", t.wrap)
	}
	_, err := t.ctx.GenerateKey(t.session, []*pkcs11.Mechanism{pkcs11.NewMechanism(pkcs11.CKM_AES_KEY_GEN, nil)},
		private(t.wrap, pkcs11.NewAttribute(pkcs11.CKA_VALUE_LEN, 32),
			pkcs11.NewAttribute(pkcs11.CKA_ENCRYPT, true), pkcs11.NewAttribute(pkcs11.CKA_DECRYPT, true)))
	if err != nil {
		return fmt.Errorf("making the key %q of AES-256: %w", t.wrap, err)
	}
	return nil
}
