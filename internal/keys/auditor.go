package keys

import (
	"bytes"
	"crypto/ecdh"
	"encoding/base64"
	"errors"
	"fmt"

	"shuffled/internal/audit"
)

// Each auditor key file is one line: a prefix, and base64 of the 32-byte private
// key, or of the public key as entries carry it, the type byte and a 65-byte
// uncompressed point of P-256.
const (
	auditorPrefix       = "shuffled-auditor-key:v1:"
	auditorPublicPrefix = "shuffled-auditor:v1:"
)

// keyP256 is the type byte of a P-256 key (docs/SPEC.md section 5.1).
const keyP256 = 0x01

// AuditorKey is the key to which disclosure keys are wrapped for one auditor. It
// is safe for concurrent use and prints as its public line.
type AuditorKey struct {
	private Secret
	public  []byte
}

// GenerateAuditor makes a new key.
func GenerateAuditor() (*AuditorKey, error) {
	k, err := ecdh.P256().GenerateKey(nil) // always from the platform generator
	if err != nil {
		return nil, fmt.Errorf("generating an auditor key: %w", err)
	}
	return newAuditor(k), nil
}

func newAuditor(k *ecdh.PrivateKey) *AuditorKey {
	return &AuditorKey{NewSecret(k.Bytes()), append([]byte{keyP256}, k.PublicKey().Bytes()...)}
}

// ReadAuditor reads a private auditor key file, perhaps encrypted under
// passphrase.
func ReadAuditor(path string, passphrase Secret) (*AuditorKey, error) {
	raw, err := readLine(path, passphrase, "an auditor key", auditorPrefix, 32)
	if err != nil {
		return nil, err
	}
	k, err := ecdh.P256().NewPrivateKey(raw)
	if err != nil { // nothing of the text: it may be a damaged key
		return nil, fmt.Errorf("reading an auditor key: %s holds no private key of P-256", path)
	}
	return newAuditor(k), nil
}

// WriteFile creates a private file with mode 0600, encrypted unless passphrase
// is empty. An existing file is an error that matches fs.ErrExist.
func (k *AuditorKey) WriteFile(path string, passphrase Secret) error {
	return writeLine(path, passphrase, auditorPrefix, k.private.Bytes())
}

// Private returns the 32 bytes of the private key.
func (k *AuditorKey) Private() Secret { return k.private }

// Public returns the public key as genesis and key entries hold it: type byte
// and point, 66 bytes.
func (k *AuditorKey) Public() []byte { return bytes.Clone(k.public) }

// ID returns the KeyID of the public key.
func (k *AuditorKey) ID() [32]byte { return audit.KeyID(k.public) }

// String returns the line of the public file.
func (k *AuditorKey) String() string { return AuditorLine(k.public) }

// ReadAuditorPublic reads the file that an auditor gives to the house and
// returns the public key as AuditorKey.Public does.
func ReadAuditorPublic(path string) ([]byte, error) {
	b, err := readFile(path, false)
	if err != nil {
		return nil, fmt.Errorf("reading a public auditor key: %w", err)
	}
	public, err := decodeLine(b, auditorPublicPrefix)
	if err == nil {
		err = checkAuditorPublic(public)
	}
	if err != nil {
		return nil, fmt.Errorf("reading a public auditor key: %s holds no %q and a public key of P-256 in base64", path,
			auditorPublicPrefix)
	}
	return public, nil
}

// WriteAuditorPublic creates a file with a public auditor key and mode 0644. An
// existing file is an error that matches fs.ErrExist.
func WriteAuditorPublic(path string, public []byte) error {
	if err := checkAuditorPublic(public); err != nil {
		return err
	}
	return createFile(path, []byte(AuditorLine(public)+"\n"), modePublic)
}

// AuditorLine returns the line of a public file.
func AuditorLine(public []byte) string {
	return auditorPublicPrefix + base64.StdEncoding.EncodeToString(public)
}

func checkAuditorPublic(public []byte) error {
	if len(public) == 0 || public[0] != keyP256 {
		return errors.New("no public auditor key of a known type")
	}
	if _, err := ecdh.P256().NewPublicKey(public[1:]); err != nil {
		return errors.New("no public auditor key: no uncompressed point of P-256")
	}
	return nil
}
