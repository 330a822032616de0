package keys

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"strings"
)

// A bearer token is its id, a dot, and the secret. The id is "tok_" and 16 characters for 80 random bits. The secret is
// 43 characters of base64url for 256 random bits.
const (
	tokenPrefix = "tok_"
	tokenID     = len(tokenPrefix) + 16
	tokenSecret = 43
)

var tokenEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// NewToken makes a token of the API. id is public: it is the credential in entries and logs. bearer is the whole token,
// for its holder only. The ledger's entry has id and a digest over HashToken of the secret (docs/SPEC.md section 5.10).
func NewToken() (id string, bearer Secret) {
	var b [10 + 32]byte
	rand.Read(b[:]) // never fails (crypto/rand)
	id = tokenPrefix + tokenEncoding.EncodeToString(b[:10])
	return id, NewSecret([]byte(id + "." + base64.RawURLEncoding.EncodeToString(b[10:])))
}

// SplitToken returns the two parts of a bearer token. ok is false for text that NewToken could not have made.
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

// HashToken returns the SHA-256 of a token's secret, which the digest in the token's entry covers. A slow password hash
// would add nothing, since nobody can guess 256 random bits, and would let anybody make the daemon work.
func HashToken(secret string) [32]byte { return sha256.Sum256([]byte(secret)) }

// SlotSize is the length of a slot's value in bytes (docs/SPEC.md section 4.1).
const SlotSize = 32

// NewSlot makes the value of a player's slot. The player keeps it secret until the commit that has its hash is
// witnessed. From the mix on it is public.
func NewSlot() Secret { return random(SlotSize) }

// NewTicketSecret makes the secret of a list of tickets (docs/SPEC.md section 16.2): 32 bytes.
func NewTicketSecret() Secret { return random(32) }
