package keys

import (
	"crypto"
	"crypto/ed25519"
	"fmt"

	fnote "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"

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

// parseWitness reads signed-note text.
func parseWitness(skey []byte) (*WitnessKey, error) {
	key, signer, of, err := ed25519Form{"witness", algCosignature, audit.WitnessVKey, audit.ParseWitnessVKey,
		func(skey string) (note.Signer, error) { return fnote.NewSignerForCosignatureV1(skey) }}.parse(skey)
	if err != nil {
		return nil, err
	}
	return &WitnessKey{of, signer.Name(), key}, nil
}
