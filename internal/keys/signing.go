package keys

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
)

// algEd25519 is the signature type of C2SP signed notes for plain Ed25519.
const algEd25519 = 0x01

// SigningKey is the signing key of one ledger. Its name is the ledger's origin. The private half is in the key file, or
// in an ssh-agent that the file names. It is safe for concurrent use and prints as its verifier key.
type SigningKey struct {
	noteKey
	signer note.Signer
	public []byte // type byte and public key
}

// GenerateSigning makes a new key. Its random bytes do not come through crypto/rand.Reader, which another package could
// have replaced.
func GenerateSigning(origin string) (*SigningKey, error) {
	skey, vkey, err := note.GenerateKey(nil, origin)
	if err == nil {
		_, err = audit.ParseVKey(vkey)
	}
	if err != nil {
		return nil, fmt.Errorf("generating a signing key for %q: %w", origin, err)
	}
	return parseSigning([]byte(skey))
}

// ReadSigning reads a key file of one line of signed-note text, which may be encrypted under passphrase.
func ReadSigning(path string, passphrase Secret) (*SigningKey, error) {
	return readNoteKey(path, passphrase, "signing", parseSigning)
}

// ReadSigner reads a key file of a ledger, of Ed25519 or of ML-DSA-44, and returns the signer of its checkpoints.
func ReadSigner(path string, passphrase Secret) (note.Signer, error) {
	var signer note.Signer
	_, err := readNoteKey(path, passphrase, "signing", func(skey []byte) (*noteKey, error) {
		if k, err := parseMLDSA(skey); err == nil {
			signer = k.At(0)
			return &k.noteKey, nil
		}
		k, err := parseSigning(skey)
		if err != nil {
			return nil, err
		}
		signer = k.Signer()
		return &k.noteKey, nil
	})
	return signer, err
}

// Origin returns the ledger's name.
func (k *SigningKey) Origin() string { return k.signer.Name() }

// Signer returns the signer of the ledger's checkpoints.
func (k *SigningKey) Signer() note.Signer { return k.signer }

// Public returns the type byte and the 32-byte public key, as genesis and key entries hold it.
func (k *SigningKey) Public() []byte { return append([]byte(nil), k.public...) }

// errSigning says nothing of the text: it may be a damaged private key.
var errSigning = errors.New("no Ed25519 signing key in signed-note form")

// parseSigning reads signed-note text, and tests that its verifier key accepts what the key signs (the pairwise test of
// FIPS 140-3, here also for keys that were generated elsewhere).
func parseSigning(skey []byte) (*SigningKey, error) {
	text := string(skey)
	if line, ok := strings.CutPrefix(text, agentPrefix); ok {
		return parseAgent(line)
	}
	name, seed, ok := splitPrivate(skey, ed25519.SeedSize)
	if !ok {
		return nil, errSigning
	}
	public := ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey)
	vkey, err := note.NewEd25519VerifierKey(name, public)
	if err != nil || privateText(vkey, algEd25519, seed) != text {
		return nil, errSigning
	}
	verifier, err := audit.ParseVKey(vkey)
	if err != nil {
		return nil, err
	}
	signer, err := note.NewSigner(text)
	if err != nil {
		return nil, errSigning
	}
	if err := proves(signer, verifier); err != nil {
		return nil, err
	}
	return &SigningKey{noteKey{vkey, NewSecret(skey)}, signer, append([]byte{algEd25519}, public...)}, nil
}
