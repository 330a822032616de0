package keys

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"filippo.io/age"
	"filippo.io/age/armor"
)

// ErrPassphrase is matched if an encrypted key file is read without a passphrase or with a wrong one.
var ErrPassphrase = errors.New("the key file is encrypted")

// workFactor is log2 of the scrypt cost N for new files: a start takes about a second for each file.
const workFactor = 18

// binaryHeader starts a binary age file (C2SP age, version line).
const binaryHeader = "age-encryption.org/v1\n"

// readPrivate reads a private file, and decrypts it if it has the header of age, in binary or armored form. A file that
// is not encrypted needs no passphrase.
func readPrivate(path string, passphrase Secret) ([]byte, error) {
	b, err := readFile(path, true)
	if err != nil {
		return nil, err
	}
	if !isEncrypted(b) {
		return b, nil
	}
	if passphrase.Empty() {
		return nil, fmt.Errorf("%w and no passphrase file is given: %s", ErrPassphrase, path)
	}
	plain, err := decrypt(b, passphrase)
	if err != nil {
		return nil, fmt.Errorf("decrypting %s: %w", path, err)
	}
	return plain, nil
}

// writePrivate creates a private file, encrypted unless the passphrase is empty.
func writePrivate(path string, plain []byte, passphrase Secret) error {
	if passphrase.Empty() {
		return createFile(path, plain, modePrivate)
	}
	b, err := encrypt(plain, passphrase, workFactor)
	if err != nil {
		return fmt.Errorf("encrypting %s: %w", path, err)
	}
	return createFile(path, b, modePrivate)
}

func isEncrypted(b []byte) bool {
	return bytes.HasPrefix(b, []byte(binaryHeader)) || bytes.HasPrefix(bytes.TrimSpace(b), []byte(armor.Header))
}

// encrypt returns plain as an armored age file with one scrypt recipient.
func encrypt(plain []byte, passphrase Secret, logN int) ([]byte, error) {
	r, err := age.NewScryptRecipient(string(passphrase.Bytes()))
	if err != nil {
		return nil, err
	}
	r.SetWorkFactor(logN)
	var out bytes.Buffer
	text := armor.NewWriter(&out)
	w, err := age.Encrypt(text, r)
	if err != nil {
		return nil, err
	}
	_, err = w.Write(plain)
	if err := errors.Join(err, w.Close(), text.Close()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// decrypt opens an age file made with a passphrase.
func decrypt(b []byte, passphrase Secret) ([]byte, error) {
	id, err := age.NewScryptIdentity(string(passphrase.Bytes()))
	if err != nil {
		return nil, err
	}
	var src io.Reader = bytes.NewReader(b)
	if !bytes.HasPrefix(b, []byte(binaryHeader)) {
		src = armor.NewReader(src)
	}
	r, err := age.Decrypt(src, id)
	if errors.Is(err, age.ErrIncorrectIdentity) {
		return nil, fmt.Errorf("%w: the passphrase does not open it", ErrPassphrase)
	}
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
