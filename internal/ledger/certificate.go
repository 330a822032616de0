package ledger

import (
	"crypto/sha256"
	"encoding/base32"
	"strings"
)

// certificatePrefix starts the public ids of client certificates, as tok_ starts
// those of tokens.
const certificatePrefix = "crt_"

var certificateEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// CertificateID returns the public id and the hash under which a Token stands for
// the client certificates with this public key, a SubjectPublicKeyInfo in DER
// (RFC 5280 section 4.1.2.7). A certificate that is renewed with the same key is
// the same identity.
func CertificateID(spki []byte) (id string, hash [32]byte) {
	hash = sha256.Sum256(spki)
	return certificatePrefix + certificateEncoding.EncodeToString(hash[:10]), hash
}

// IsCertificate reports whether the public id is of a client certificate.
func IsCertificate(id string) bool { return strings.HasPrefix(id, certificatePrefix) }
