package keys

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"strings"
)

// A bearer token is "tok_", 16 characters that make its id, a dot, and 43
// characters of base64url that are the secret: 80 random bits to name it, 256
// to prove it.
const (
	tokenPrefix = "tok_"
	tokenID     = len(tokenPrefix) + 16
	tokenSecret = 43
)

var tokenEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// NewToken makes an API token. id is public: it is the credential in entries and
// logs. bearer is the whole token and goes to its holder only; the ledger's entry has
// id and a digest of HashToken of the secret part (docs/SPEC.md section 5.10).
func NewToken() (id string, bearer Secret) {
	var b [10 + 32]byte
	rand.Read(b[:]) // never fails (crypto/rand)
	id = tokenPrefix + tokenEncoding.EncodeToString(b[:10])
	return id, NewSecret([]byte(id + "." + base64.RawURLEncoding.EncodeToString(b[10:])))
}

// SplitToken takes a bearer token apart; ok is false for text that NewToken
// could not have made.
func SplitToken(bearer string) (id, secret string, ok bool) {
	id, secret, ok = strings.Cut(bearer, ".")
	if !ok || len(id) != tokenID || len(secret) != tokenSecret || !strings.HasPrefix(id, tokenPrefix) {
		return "", "", false
	}
	name, err := tokenEncoding.DecodeString(id[len(tokenPrefix):])
	if err != nil || tokenEncoding.EncodeToString(name) != id[len(tokenPrefix):] {
		return "", "", false
	}
	raw, err := base64.RawURLEncoding.DecodeString(secret)
	if err != nil || base64.RawURLEncoding.EncodeToString(raw) != secret {
		return "", "", false
	}
	return id, secret, true
}

// HashToken returns what the digest of a token's entry covers of its secret: its SHA-256. A slow
// password hash would add nothing, for there is no guessing at 256 random bits,
// and would let anybody make the daemon work.
func HashToken(secret string) [32]byte { return sha256.Sum256([]byte(secret)) }
