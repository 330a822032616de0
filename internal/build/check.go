package build

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// The files of a release that say what belongs to it: digests, as sha256sum writes them,
// and the Ed25519 signature (RFC 8032) of that file's bytes.
const (
	sumsName      = "SHA256SUMS"
	signatureName = "SHA256SUMS.sig"
	maxSums       = 1 << 20 // bytes
)

// errUnsigned: the digests are not what the key signed.
var errUnsigned = errors.New("the signature of " + sumsName + " does not hold under this key")

// Released returns which file of the release in dir the program that runs is. The release
// is that of the holder of the key: an Ed25519 public key, in PEM (RFC 8410).
func Released(dir string, key []byte) (name string, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding the file of this program: %w", err)
	}
	return releasedFile(self, dir, key)
}

func releasedFile(program, dir string, key []byte) (name string, err error) {
	public, err := publicKey(key)
	if err != nil {
		return "", err
	}
	sums, err := readSmall(filepath.Join(dir, sumsName))
	if err != nil {
		return "", err
	}
	signature, err := readSmall(filepath.Join(dir, signatureName))
	if err != nil {
		return "", err
	}
	if !ed25519.Verify(public, sums, signature) {
		return "", errUnsigned
	}
	own, err := digest(program)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(sums)) {
		sum, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if !ok {
			return "", fmt.Errorf("reading %s: the line %q is no digest and name", sumsName, line)
		}
		if sum == own {
			return name, nil
		}
	}
	return "", fmt.Errorf("the digest of %s is %s, and %s has no such file: it is another build", program, own, sumsName)
}

func publicKey(text []byte) (ed25519.PublicKey, error) {
	block, rest := pem.Decode(text)
	if block == nil || block.Type != "PUBLIC KEY" || len(bytes.TrimSpace(rest)) > 0 {
		return nil, errors.New("the release key must be one public key in PEM, such as openssl pkey -pubout writes")
	}
	parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("reading the release key: %w", err)
	}
	public, ok := parsed.(ed25519.PublicKey)
	if !ok {
		return nil, fmt.Errorf("the release key must be of Ed25519, and is a %T", parsed)
	}
	return public, nil
}

func readSmall(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSums+1))
	if err == nil && len(text) > maxSums {
		err = fmt.Errorf("%s has more than %d bytes", path, maxSums)
	}
	return text, err
}

func digest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("reading %s: %w", path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
