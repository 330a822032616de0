package main

import (
	"bytes"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// patience is the longest time that a request to the store may take. It is less than the 5 s that
// the daemon waits for a signature.
const patience = 4 * time.Second

// A store holds keys outside this process: an HSM or a KMS. It is safe for concurrent use.
type store interface {
	// Keys returns the keys that may sign.
	Keys() ([]*key, error)
	// Wrap seals a small secret under a key of the store, and Unwrap opens it.
	Wrap(plain []byte) ([]byte, error)
	Unwrap(sealed []byte) ([]byte, error)
}

// A key is one of Ed25519 in a store. It is a crypto.Signer.
type key struct {
	name   string
	public ed25519.PublicKey
	sign   func(message []byte) ([]byte, error)
}

// Public returns the public key.
func (k *key) Public() crypto.PublicKey { return k.public }

// Sign lets the store sign the message, and checks the signature.
func (k *key) Sign(_ io.Reader, message []byte, opts crypto.SignerOpts) ([]byte, error) {
	if opts.HashFunc() != 0 {
		return nil, errors.New("a key of Ed25519 signs messages, and no digests")
	}
	sig, err := k.sign(message)
	if err == nil && !ed25519.Verify(k.public, message, sig) {
		err = errors.New("the store gave a signature that its public key refuses")
	}
	if err != nil {
		return nil, fmt.Errorf("signing with %s: %w", k.name, err)
	}
	return sig, nil
}

// The requests of the extension. The body of wrap is the secret; that of unwrap is the result of wrap.
const (
	wrapRequest   = "wrap@shuffled"
	unwrapRequest = "unwrap@shuffled"

	maxSecret = 4096 // bytes
)

// extensionResponse is the answer to an extension (draft-ietf-sshm-ssh-agent).
type extensionResponse struct {
	Request string `sshtype:"29"`
	Result  []byte `ssh:"rest"`
}

// envelope is authenticated with every wrapped secret, so that the helper opens nothing that the
// key sealed for other programs.
const envelope = "shuffled sealed secret v1"

// A helper is an ssh-agent that lists keys, signs, and seals and opens secrets. It refuses every other request.
type helper struct {
	store store
	log   *slog.Logger
	keys  []*key
	ssh   []ssh.Signer // signers with the keys, in the same order
}

// newHelper signs once with every key, so that a store that cannot sign is an error at the start.
func newHelper(s store, log *slog.Logger) (*helper, error) {
	keys, err := s.Keys()
	if err != nil {
		return nil, err
	}
	h := &helper{store: s, log: log, keys: keys}
	for _, k := range keys {
		signer, err := ssh.NewSignerFromSigner(k)
		if err != nil {
			return nil, err
		}
		if _, err := k.Sign(nil, []byte("shuffled-agent pairwise test\n"), crypto.Hash(0)); err != nil {
			return nil, err
		}
		h.ssh = append(h.ssh, signer)
	}
	return h, nil
}

// List returns the keys.
func (h *helper) List() (list []*agent.Key, err error) {
	for i, k := range h.keys {
		p := h.ssh[i].PublicKey()
		list = append(list, &agent.Key{Format: p.Type(), Blob: p.Marshal(), Comment: k.name})
	}
	return list, nil
}

// Sign lets the store sign with the key.
func (h *helper) Sign(with ssh.PublicKey, data []byte) (*ssh.Signature, error) {
	return h.SignWithFlags(with, data, 0)
}

// SignWithFlags is Sign. Flags other than 0 are refused, because Ed25519 has none.
func (h *helper) SignWithFlags(with ssh.PublicKey, data []byte, flags agent.SignatureFlags) (*ssh.Signature, error) {
	for _, s := range h.ssh {
		if flags == 0 && bytes.Equal(s.PublicKey().Marshal(), with.Marshal()) {
			sig, err := s.Sign(rand.Reader, data)
			if err != nil {
				h.log.Error("no signature", "err", err)
			}
			return sig, err
		}
	}
	return nil, errors.New("no such key")
}

// Extension seals and opens small secrets.
func (h *helper) Extension(request string, body []byte) ([]byte, error) {
	do, ok := map[string]func([]byte) ([]byte, error){
		wrapRequest: h.store.Wrap, unwrapRequest: h.store.Unwrap}[request]
	if !ok {
		return nil, agent.ErrExtensionUnsupported
	}
	if len(body) == 0 || len(body) > maxSecret {
		return nil, fmt.Errorf("a secret has 1 to %d bytes, and this one %d", maxSecret, len(body))
	}
	result, err := do(body)
	if err != nil {
		h.log.Error("no answer", "request", request, "err", err)
		return nil, err
	}
	h.log.Info("answered", "request", request)
	return ssh.Marshal(extensionResponse{request, result}), nil
}

var errListsAndSigns = errors.New("this agent lists and signs, and holds no key of its own")

// Add is refused, as are all requests below: the keys belong to the store.
func (*helper) Add(agent.AddedKey) error { return errListsAndSigns }

// Remove is refused.
func (*helper) Remove(ssh.PublicKey) error { return errListsAndSigns }

// RemoveAll is refused.
func (*helper) RemoveAll() error { return errListsAndSigns }

// Lock is refused.
func (*helper) Lock([]byte) error { return errListsAndSigns }

// Unlock is refused.
func (*helper) Unlock([]byte) error { return errListsAndSigns }

// Signers is refused.
func (*helper) Signers() ([]ssh.Signer, error) { return nil, errListsAndSigns }
