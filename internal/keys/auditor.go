package keys

import (
	"bytes"
	"encoding/base64"
	"fmt"

	"shuffled/internal/audit"
)

// Each auditor key file is one line: a prefix, and base64 of a type byte and the key. The private key has 32 bytes. The
// public key is the one in entries (docs/SPEC.md section 5.7).
const (
	auditorPrefix       = "shuffled-auditor-key:v1:"
	auditorPublicPrefix = "shuffled-auditor:v1:"
)

// AuditorKey is the key under which disclosure keys are wrapped for one auditor. It is safe for concurrent use and
// prints as its public line.
type AuditorKey struct {
	private Secret
	public  []byte
}

// GenerateAuditor makes a new key, a hybrid one.
func GenerateAuditor() (*AuditorKey, error) {
	kem, _ := audit.KEMOf([]byte{audit.KeyHybrid})
	k, err := kem.GenerateKey() // always from the platform generator
	if err != nil {
		return nil, fmt.Errorf("generating an auditor key: %w", err)
	}
	private, err := k.Bytes()
	if err != nil {
		return nil, fmt.Errorf("generating an auditor key: %w", err)
	}
	return newAuditor(append([]byte{kem.Type}, private...))
}

// newAuditor returns the key with this private half, type byte first.
func newAuditor(private []byte) (*AuditorKey, error) {
	kem, ok := audit.KEMOf(private)
	if !ok {
		return nil, fmt.Errorf("key type %d: %w", private[0], audit.ErrUnknown)
	}
	k, err := kem.NewPrivateKey(private[1:])
	if err != nil {
		return nil, fmt.Errorf("no private key of %s", kem.Name) // err may have something of the key
	}
	return &AuditorKey{NewSecret(private), append([]byte{kem.Type}, k.PublicKey().Bytes()...)}, nil
}

// ReadAuditor reads a private auditor key file, which may be encrypted under passphrase.
func ReadAuditor(path string, passphrase Secret) (*AuditorKey, error) {
	raw, err := readLine(path, passphrase, "an auditor key", auditorPrefix, 1+audit.PrivateSize)
	if err != nil {
		return nil, err
	}
	k, err := newAuditor(raw)
	if err != nil { // the message has nothing of the text, which may be a damaged key
		return nil, fmt.Errorf("reading an auditor key: %s: %w", path, err)
	}
	return k, nil
}

// WriteFile creates a private file with mode 0600, encrypted unless passphrase
// is empty. An existing file is an error that matches fs.ErrExist.
func (k *AuditorKey) WriteFile(path string, passphrase Secret) error {
	return writeLine(path, passphrase, auditorPrefix, k.private.Bytes())
}

// Private returns the private key, type byte first.
func (k *AuditorKey) Private() Secret { return k.private }

// Public returns the public key as genesis and key entries hold it, type byte first.
func (k *AuditorKey) Public() []byte { return bytes.Clone(k.public) }

// ID returns the KeyID of the public key.
func (k *AuditorKey) ID() [32]byte { return audit.KeyID(k.public) }

// String returns the line of the public file.
func (k *AuditorKey) String() string { return AuditorLine(k.public) }

// ReadAuditorPublic reads the file that an auditor gives to the house, and returns the public key as AuditorKey.Public
// does.
func ReadAuditorPublic(path string) ([]byte, error) {
	b, err := readFile(path, false)
	if err != nil {
		return nil, fmt.Errorf("reading a public auditor key: %w", err)
	}
	public, err := decodeLine(b, auditorPublicPrefix)
	if err == nil {
		err = audit.CheckSealingKey(public)
	}
	if err != nil {
		return nil, fmt.Errorf("reading a public auditor key: %s holds no %q and a public key in base64: %w", path,
			auditorPublicPrefix, err)
	}
	return public, nil
}

// WriteAuditorPublic creates a file with a public auditor key and mode 0644. An
// existing file is an error that matches fs.ErrExist.
func WriteAuditorPublic(path string, public []byte) error {
	if err := audit.CheckSealingKey(public); err != nil {
		return err
	}
	return createFile(path, []byte(AuditorLine(public)+"\n"), modePublic)
}

// AuditorLine returns the line of a public file.
func AuditorLine(public []byte) string {
	return auditorPublicPrefix + base64.StdEncoding.EncodeToString(public)
}
