package keys

import (
	"bytes"
	"crypto"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"strings"

	fnote "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
	"shuffled/internal/process"
)

// algEd25519 is the signature type of C2SP signed notes for plain Ed25519.
const algEd25519 = 0x01

// SigningKey is the signing key of one ledger. Its name is the ledger's origin. The private half is in the key file, or
// in an ssh-agent that the file names. It is safe for concurrent use and prints as its verifier key.
type SigningKey struct {
	noteKey
	signer note.Signer
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
func (k *SigningKey) Origin() string { return k.Name() }

// Signer returns the signer of the ledger's checkpoints.
func (k *SigningKey) Signer() note.Signer { return k.signer }

// parseSigning reads signed-note text, or the line of a key that an ssh-agent holds.
func parseSigning(skey []byte) (*SigningKey, error) {
	if line, ok := strings.CutPrefix(string(skey), agentPrefix); ok {
		return parseAgent(line)
	}
	_, signer, of, err := ed25519Form{"signing", algEd25519, note.NewEd25519VerifierKey, audit.ParseVKey,
		note.NewSigner}.parse(skey)
	if err != nil {
		return nil, err
	}
	return &SigningKey{of, signer}, nil
}

// ed25519Form is how keys of Ed25519 for one purpose are written.
type ed25519Form struct {
	kind     string
	alg      byte
	vkey     func(name string, key ed25519.PublicKey) (string, error)
	verifier func(vkey string) (note.Verifier, error)
	signer   func(skey string) (note.Signer, error)
}

// parse reads signed-note text in its one encoding, which determines type and hash. It tests that the verifier key
// accepts what the key signs (the pairwise test of FIPS 140-3, also for keys that were generated elsewhere).
func (f ed25519Form) parse(skey []byte) (key ed25519.PrivateKey, signer note.Signer, k noteKey, err error) {
	// It says nothing of the text, which may be a damaged private key.
	malformed := fmt.Errorf("no Ed25519 %s key in signed-note form", f.kind)
	name, seed, ok := splitPrivate(skey, ed25519.SeedSize)
	if !ok {
		return nil, nil, k, malformed
	}
	key = ed25519.NewKeyFromSeed(seed)
	vkey, err := f.vkey(name, key.Public().(ed25519.PublicKey))
	if err != nil || privateText(vkey, f.alg, seed) != string(skey) {
		return nil, nil, k, malformed
	}
	verifier, err := f.verifier(vkey)
	if err != nil {
		return nil, nil, k, err
	}
	if signer, err = f.signer(string(skey)); err != nil {
		return nil, nil, k, malformed
	}
	return key, signer, noteKey{vkey, NewSecret(skey)}, proves(signer, verifier)
}

// noteKey is a key in signed-note form: the text of its file, and the text of its verifier key, as which it prints.
type noteKey struct {
	vkey string
	skey Secret
}

// readNoteKey reads a key file of one line, which may be encrypted under passphrase.
func readNoteKey[K any](path string, passphrase Secret, kind string, parse func(skey []byte) (*K, error)) (*K, error) {
	b, err := readPrivate(path, passphrase)
	if err != nil {
		return nil, fmt.Errorf("reading a %s key: %w", kind, err)
	}
	k, err := parse(trimNewline(b))
	if err != nil {
		return nil, fmt.Errorf("reading the %s key in %s: %w", kind, path, err)
	}
	return k, nil
}

// privateText is the text of a key file in the form of signed-note keys, with the key id and signature type of the
// verifier key.
func privateText(vkey string, alg byte, seed []byte) string {
	parts := strings.SplitN(vkey, "+", 3) // name, id, public key
	return "PRIVATE+KEY+" + parts[0] + "+" + parts[1] + "+" +
		base64.StdEncoding.EncodeToString(append([]byte{alg}, seed...))
}

// splitPrivate returns the name and the seed, of size bytes, in the text of a key file. The caller compares the text
// with privateText, which refuses what splitPrivate overlooks.
func splitPrivate(skey []byte, size int) (name string, seed []byte, ok bool) {
	parts := strings.SplitN(string(skey), "+", 5)
	if len(parts) != 5 {
		return "", nil, false
	}
	raw, err := base64.StdEncoding.DecodeString(parts[4])
	if err != nil || len(raw) != 1+size {
		return "", nil, false
	}
	return parts[2], raw[1:], true
}

// WriteFile creates a key file with mode 0600, encrypted unless passphrase is
// empty. An existing file is an error that matches fs.ErrExist.
func (k *noteKey) WriteFile(path string, passphrase Secret) error {
	return writePrivate(path, append(bytes.Clone(k.skey.Bytes()), '\n'), passphrase)
}

// WriteVKey creates a file with the verifier key and mode 0644. An existing file is an error that matches fs.ErrExist.
func (k *noteKey) WriteVKey(path string) error {
	return process.CreateFile(path, []byte(k.vkey+"\n"), modePublic)
}

// Name returns the name of the ledger or witness.
func (k *noteKey) Name() string {
	name, _, _ := strings.Cut(k.vkey, "+")
	return name
}

// Public returns the type byte and the public key, as genesis and key entries hold it.
func (k *noteKey) Public() []byte {
	public, _ := audit.SigningKey(k.vkey) // no error: the verifier key was made or parsed
	return public
}

// VKey returns the text of the verifier key, which outsiders pin and policies list.
func (k *noteKey) VKey() string { return k.vkey }

// String returns the text of the verifier key.
func (k *noteKey) String() string { return k.vkey }

// Format keeps the private key out of every verb.
func (k *noteKey) Format(s fmt.State, _ rune) { io.WriteString(s, k.vkey) }

// LogValue implements slog.LogValuer.
func (k *noteKey) LogValue() slog.Value { return slog.StringValue(k.vkey) }

// ReadVKey reads a file with the verifier key of a ledger, or of an administrator, and returns its text.
func ReadVKey(path string) (string, error) {
	return readVKey(path, "a verifier key", audit.ParseVKey)
}

// ReadWitnessVKey reads a file with the verifier key of a witness and returns its text.
func ReadWitnessVKey(path string) (string, error) {
	return readVKey(path, "a witness's verifier key", audit.ParseWitnessVKey)
}

func readVKey(path, what string, parse func(string) (note.Verifier, error)) (string, error) {
	b, err := readFile(path, false)
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", what, err)
	}
	vkey := strings.TrimSpace(strings.TrimPrefix(string(b), "\ufeff"))
	if _, err := parse(vkey); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return vkey, nil
}

// algCosignature is the signature type of C2SP cosignature/v1 with Ed25519.
const algCosignature = 0x04

// WitnessKey is the key of a witness, which cosigns checkpoints of logs (C2SP tlog-cosignature) and nothing else. It is
// safe for concurrent use and prints as its verifier key.
type WitnessKey struct {
	noteKey
	key ed25519.PrivateKey
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

// Signer signs with the Ed25519 key. The caller decides what is signed.
func (k *WitnessKey) Signer() crypto.Signer { return k.key }

// parseWitness reads signed-note text.
func parseWitness(skey []byte) (*WitnessKey, error) {
	key, _, of, err := ed25519Form{"witness", algCosignature, audit.WitnessVKey, audit.ParseWitnessVKey,
		func(skey string) (note.Signer, error) { return fnote.NewSignerForCosignatureV1(skey) }}.parse(skey)
	if err != nil {
		return nil, err
	}
	return &WitnessKey{of, key}, nil
}
