package keys

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// readLine reads a private file of one line, which may be encrypted under passphrase: a prefix and a key of this
// size. what names the key in errors. They have nothing of the text, which may be a damaged key.
func readLine(path string, passphrase Secret, what, prefix string, size int) ([]byte, error) {
	b, err := readPrivate(path, passphrase)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", what, err)
	}
	key, err := decodeLine(b, prefix)
	if err != nil || len(key) != size {
		return nil, fmt.Errorf("reading %s: %s holds no %q and %d bytes in base64", what, path, prefix, size)
	}
	return key, nil
}

// writeLine creates a file that readLine reads, with mode 0600, encrypted unless passphrase
// is empty. An existing file is an error that matches fs.ErrExist.
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
