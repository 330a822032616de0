package keys

import (
	"crypto"
	"crypto/ed25519"
	"errors"
	"fmt"

	fnote "github.com/transparency-dev/formats/note"

	"shuffled/internal/audit"
)

// algCosignature is the signature type of C2SP cosignature/v1 with Ed25519.
const algCosignature = 0x04

// WitnessKey is the key of a witness, which cosigns checkpoints of logs (C2SP tlog-cosignature) and nothing else. It is
// safe for concurrent use and prints as its verifier key.
type WitnessKey struct {
	noteKey
	name string
	key  ed25519.PrivateKey
}

// GenerateWitness makes a new key. name is the name of the witness, such as witness.example.org/w1, with the grammar of
// an origin (audit.CheckOrigin).
func GenerateWitness(name string) (*WitnessKey, error) {
	if err := audit.CheckOrigin(name); err != nil {
		return nil, fmt.Errorf("generating a witness key for %q: a name %w", name, err)
	}
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		return nil, fmt.Errorf("generating a witness key for %q: %w", name, err)
	}
	vkey, err := audit.WitnessVKey(name, key.Public().(ed25519.PublicKey))
	if err == nil {
		_, err = audit.ParseWitnessVKey(vkey)
	}
	if err != nil {
		return nil, fmt.Errorf("generating a witness key for %q: %w", name, err)
	}
	return parseWitness([]byte(privateText(vkey, algCosignature, key.Seed())))
}

// ReadWitness reads a key file of one line of signed-note text, which may be encrypted under passphrase.
func ReadWitness(path string, passphrase Secret) (*WitnessKey, error) {
	return readNoteKey(path, passphrase, "witness", parseWitness)
}

// Name returns the witness's name.
func (k *WitnessKey) Name() string { return k.name }

// Signer signs with the Ed25519 key. The caller decides what is signed.
func (k *WitnessKey) Signer() crypto.Signer { return k.key }

// errWitness says nothing of the text: it may be a damaged private key.
var errWitness = errors.New("no Ed25519 witness key in signed-note form")

// parseWitness reads signed-note text in its one encoding, which determines type and hash. It tests that the verifier
// key accepts what the key signs (the pairwise test of FIPS 140-3).
func parseWitness(skey []byte) (*WitnessKey, error) {
	name, seed, ok := splitPrivate(skey, ed25519.SeedSize)
	if !ok {
		return nil, errWitness
	}
	key := ed25519.NewKeyFromSeed(seed)
	vkey, err := audit.WitnessVKey(name, key.Public().(ed25519.PublicKey))
	if err != nil || privateText(vkey, algCosignature, seed) != string(skey) {
		return nil, errWitness
	}
	verifier, err := audit.ParseWitnessVKey(vkey)
	if err != nil {
		return nil, err
	}
	signer, err := fnote.NewSignerForCosignatureV1(string(skey))
	if err != nil {
		return nil, errWitness
	}
	if err := proves(signer, verifier); err != nil {
		return nil, err
	}
	return &WitnessKey{noteKey{vkey, NewSecret(skey)}, name, key}, nil
}
