package keys

import (
	"bytes"
	"errors"
	"fmt"

	"filippo.io/mldsa"
	"github.com/transparency-dev/formats/log"
	fnote "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
)

// algMLDSA is the signature type of ML-DSA-44 (C2SP tlog-cosignature).
const algMLDSA = 0x06

// MLDSAKey is an ML-DSA-44 key: the second signing key of a ledger, or the second key of a witness. It is safe for
// concurrent use and prints as its verifier key. It computes with filippo.io/mldsa, outside the FIPS 140-3 module.
type MLDSAKey struct {
	noteKey
	signer MLDSASigner
}

// GenerateMLDSA makes a new key of a ledger or witness of that name.
func GenerateMLDSA(name string) (*MLDSAKey, error) {
	if err := audit.CheckOrigin(name); err != nil {
		return nil, fmt.Errorf("generating an ML-DSA-44 key for %q: a name %w", name, err)
	}
	return newMLDSA(name, random(mldsa.PrivateKeySize).Bytes())
}

// ReadMLDSA reads a key file of one line of signed-note text, which may be encrypted under passphrase.
func ReadMLDSA(path string, passphrase Secret) (*MLDSAKey, error) {
	return readNoteKey(path, passphrase, "ML-DSA-44", parseMLDSA)
}

// Verifier returns the verifier of the key.
func (k *MLDSAKey) Verifier() note.Verifier { return k.signer.verifier }

// At returns a signer of checkpoints whose signatures state a time, in seconds since 1970. A ledger states 0, which
// means no time: it signs its newest head, and entries have their times.
func (k *MLDSAKey) At(unix int64) note.Signer {
	return MLDSASigner{k.signer.SubtreeSigner, k.signer.verifier, uint64(unix)}
}

// MLDSASigner signs checkpoints with an ML-DSA-44 key.
type MLDSASigner struct {
	*fnote.SubtreeSigner // its name, and its id in signature lines
	verifier             note.Verifier
	unix                 uint64
}

// Verifier returns the verifier of the key.
func (s MLDSASigner) Verifier() note.Verifier { return s.verifier }

// Sign signs the text of a checkpoint. Its extension lines, if it has any, are not signed (C2SP tlog-cosignature).
func (s MLDSASigner) Sign(text []byte) ([]byte, error) {
	var c log.Checkpoint
	if _, err := c.Unmarshal(text); err != nil {
		return nil, fmt.Errorf("signing with ML-DSA-44: %w", err)
	}
	return s.SignSubtree(s.unix, c.Origin, 0, c.Size, c.Hash)
}

// errMLDSA says nothing of the text: it may be a damaged private key.
var errMLDSA = errors.New("no ML-DSA-44 key in signed-note form")

// parseMLDSA reads signed-note text, in its one encoding (which settles type and id).
func parseMLDSA(skey []byte) (*MLDSAKey, error) {
	name, seed, ok := splitPrivate(skey, mldsa.PrivateKeySize)
	if !ok {
		return nil, errMLDSA
	}
	k, err := newMLDSA(name, seed)
	if err != nil || !bytes.Equal(k.skey.Bytes(), skey) {
		return nil, errMLDSA
	}
	return k, nil
}

// newMLDSA makes the key of a seed, and tests that its verifier key accepts what it signs (the pairwise test of FIPS
// 140-3).
func newMLDSA(name string, seed []byte) (*MLDSAKey, error) {
	key, err := mldsa.NewPrivateKey(mldsa.MLDSA44(), seed)
	if err != nil {
		return nil, errMLDSA
	}
	vkey, err := audit.VKey(name, append([]byte{algMLDSA}, key.PublicKey().Bytes()...))
	if err != nil {
		return nil, err
	}
	verifier, err := audit.ParseVKey(vkey)
	if err != nil {
		return nil, err
	}
	text := privateText(vkey, algMLDSA, seed)
	signer, err := fnote.NewMLDSASigner(text)
	if err != nil {
		return nil, errMLDSA
	}
	k := &MLDSAKey{noteKey{vkey, NewSecret([]byte(text))}, MLDSASigner{signer, verifier, 0}}
	return k, proves(k.At(1), verifier)
}

// proves tests that a verifier accepts what a signer of checkpoints signs.
func proves(signer note.Signer, verifier note.Verifier) error {
	const text = "pairwise test\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n"
	signed, err := note.Sign(&note.Note{Text: text}, signer)
	if err == nil {
		_, err = note.Open(signed, note.VerifierList(verifier))
	}
	if err != nil {
		return fmt.Errorf("the key of %s does not match its verifier key", verifier.Name())
	}
	return nil
}
