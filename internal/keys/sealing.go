package keys

import (
	"crypto/rand"
	"errors"
)

// sealingSize is the size of a sealing key in bytes.
const sealingSize = 32

// sealingPrefix starts the one line of a sealing key file; base64 of the key
// follows.
const sealingPrefix = "shuffled-sealing-key:v1:"

// GenerateSealing makes a new sealing key of 32 random bytes.
func GenerateSealing() Secret {
	b := make([]byte, sealingSize)
	rand.Read(b) // never fails (crypto/rand)
	return NewSecret(b)
}

// ReadSealing reads a sealing key file, perhaps encrypted under passphrase, and
// returns the 32 bytes of the key.
func ReadSealing(path string, passphrase Secret) (Secret, error) {
	key, err := readLine(path, passphrase, "a sealing key", sealingPrefix, sealingSize)
	if err != nil {
		return Secret{}, err
	}
	return NewSecret(key), nil
}

// WriteSealing creates a sealing key file with mode 0600, encrypted unless
// passphrase is empty. An existing file is an error that matches fs.ErrExist.
func WriteSealing(path string, key, passphrase Secret) error {
	if len(key.Bytes()) != sealingSize {
		return errors.New("a sealing key has 32 bytes")
	}
	return writeLine(path, passphrase, sealingPrefix, key.Bytes())
}
