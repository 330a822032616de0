package keys

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
)

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
	return createFile(path, []byte(k.vkey+"\n"), modePublic)
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
