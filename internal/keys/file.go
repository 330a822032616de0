package keys

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"filippo.io/age"
	"filippo.io/age/armor"

	"shuffled/internal/process"
	"shuffled/internal/stops"
)

// maxFile is the size of the largest key file that is read, in bytes. Files of this package are far smaller.
const maxFile = 64 << 10

// File modes.
const (
	modePrivate = 0o600
	modePublic  = 0o644
)

// ReadSecret returns the content of a private file without one line end at its end: a passphrase, a database password,
// a token. An empty file is an error.
func ReadSecret(path string) (Secret, error) {
	b, err := readFile(path, true)
	if err != nil {
		return Secret{}, err
	}
	b = trimNewline(b)
	if len(b) == 0 {
		return Secret{}, fmt.Errorf("%s is empty", path)
	}
	return NewSecret(b), nil
}

// ReadPassphrase reads the file with the passphrase of encrypted key files. If path is "", the passphrase is empty.
func ReadPassphrase(path string) (Secret, error) {
	if path == "" {
		return Secret{}, nil
	}
	s, err := ReadSecret(path)
	if err != nil {
		return s, fmt.Errorf("reading the passphrase: %w", err)
	}
	return s, nil
}

// WriteSecret creates a private file with s and a newline. An existing file is an error that matches fs.ErrExist.
func WriteSecret(path string, s Secret) error {
	return process.CreateFile(path, append(bytes.Clone(s.Bytes()), '\n'), modePrivate)
}

// readFile reads a regular file of at most maxFile bytes. A private file must not be open to group and others (see
// tooOpen). The open file is checked and not its name, so that the file cannot be exchanged in between. The
// error of another mode matches stops.Mode and names file and mode.
func readFile(path string, private bool) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: %s is no regular file (%s)", stops.Mode, path, info.Mode())
	}
	perm := info.Mode().Perm()
	if bad := tooOpen(perm, othersRootFile(info)); private && bad != 0 {
		return nil, fmt.Errorf("%w: %s has mode %04o, so others can use the secret in it; make it %04o",
			stops.Mode, path, perm, perm&^bad)
	}
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	if len(b) > maxFile {
		return nil, fmt.Errorf("reading %s: more than %d bytes", path, maxFile)
	}
	return b, nil
}

// tooOpen returns those permissions that a private file must not have: all of group and others. A file of root that a
// process of another user reads may be readable to its group: systemd's credentials and Kubernetes' secrets are such
// files.
func tooOpen(perm fs.FileMode, rootToOther bool) fs.FileMode {
	if rootToOther {
		return perm & 0o037
	}
	return perm & 0o077
}

// trimNewline removes one line end from the end of b.
func trimNewline(b []byte) []byte {
	b = bytes.TrimSuffix(b, []byte("\n"))
	return bytes.TrimSuffix(b, []byte("\r"))
}

// writeLine creates a private file of one line, a prefix and a key, with mode 0600, encrypted unless passphrase is
// empty. An existing file is an error that matches fs.ErrExist.
func writeLine(path string, passphrase Secret, prefix string, key []byte) error {
	return writePrivate(path, []byte(prefix+base64.StdEncoding.EncodeToString(key)+"\n"), passphrase)
}

// decodeLine returns the bytes whose base64, in its one encoding, follows prefix on the only line of a file. The error
// has nothing of the text.
func decodeLine(b []byte, prefix string) ([]byte, error) {
	text, ok := strings.CutPrefix(string(trimNewline(b)), prefix)
	raw, err := base64.StdEncoding.DecodeString(text)
	// Encoding again refuses spare bits and the line ends that the decoder skips.
	if !ok || err != nil || base64.StdEncoding.EncodeToString(raw) != text {
		return nil, errors.New("not the line of a key file")
	}
	return raw, nil
}

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
	if !bytes.HasPrefix(b, []byte(binaryHeader)) && !bytes.HasPrefix(bytes.TrimSpace(b), []byte(armor.Header)) {
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
		return process.CreateFile(path, plain, modePrivate)
	}
	b, err := encrypt(plain, passphrase, workFactor)
	if err != nil {
		return fmt.Errorf("encrypting %s: %w", path, err)
	}
	return process.CreateFile(path, b, modePrivate)
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
