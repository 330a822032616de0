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
	"runtime"
	"strings"
)

// The files of a release that say what belongs to it: digests, as sha256sum writes them, and the Ed25519 signature (RFC
// 8032) of that file's bytes. Neither has more than MaxSums bytes.
const (
	SumsName      = "SHA256SUMS"
	SignatureName = "SHA256SUMS.sig"
	MaxSums       = 1 << 20
)

// errUnsigned: the digests are not what the key signed.
var errUnsigned = errors.New("the signature of " + SumsName + " is not valid under this key")

// Digest returns the SHA-256 of the program that runs.
func Digest() (sum [32]byte, err error) {
	path, err := os.Executable()
	if err != nil {
		return sum, fmt.Errorf("finding the executable: %w", err)
	}
	f, err := os.Open(path)
	if err != nil {
		return sum, fmt.Errorf("reading the executable: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return sum, fmt.Errorf("reading the executable: %w", err)
	}
	h.Sum(sum[:0])
	return sum, nil
}

// Released returns which file of a release the program with this digest is. The release is
// that of the holder of the key: an Ed25519 public key, in PEM (RFC 8410).
func Released(program [32]byte, sums, signature, key []byte) (name string, err error) {
	public, err := publicKey(key)
	if err != nil {
		return "", err
	}
	if !ed25519.Verify(public, sums, signature) {
		return "", errUnsigned
	}
	own, other := hex.EncodeToString(program[:]), ""
	for line := range strings.Lines(string(sums)) {
		sum, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if !ok {
			return "", fmt.Errorf("reading %s: the line %q is no digest and name", SumsName, line)
		}
		if sum == own && strings.HasPrefix(name, runtime.GOOS+"-"+runtime.GOARCH+"/") {
			return name, nil
		} else if sum == own {
			other = name
		}
	}
	if other != "" {
		return "", fmt.Errorf("%s names this program %s, and it runs on %s-%s: the list is wrong, or of another kind of release",
			SumsName, other, runtime.GOOS, runtime.GOARCH)
	}
	return "", fmt.Errorf("the digest of this program is %s, and %s has no file with this digest: the program is another build", own, SumsName)
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
