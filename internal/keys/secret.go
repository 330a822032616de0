// Package keys makes, writes and reads secrets and the public keys that belong to them: signing keys of ledgers as
// signed-note keys (C2SP signed-note, Ed25519 and ML-DSA-44), sealing keys of tapes, keys of auditors and witnesses,
// values of players' slots, passwords, and the tokens of the API.
//
// Private files are created with mode 0600 and never overwritten. They are refused if group or others may open them,
// except that a file of root may be readable to the group of the daemon's user. A key file may be encrypted with age
// under a passphrase: its header shows it. In memory a secret is a Secret, which nothing prints.
//
// Keys and tokens are drawn from crypto/rand, not on the path of requests that deal, and not from package entropy,
// which is for tapes only.
package keys

import (
	"bytes"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// Secret holds bytes that must not be printed. It formats and logs as
// "[secret]" and marshals to nothing. The zero Secret is empty and means none.
type Secret struct {
	// It is a function, because fmt prints only the address of a function, even if it cannot call Format because the
	// Secret is in an unexported field of another struct.
	reveal func() []byte
}

// NewSecret returns a Secret with a copy of b.
func NewSecret(b []byte) Secret {
	own := bytes.Clone(b)
	return Secret{func() []byte { return own }}
}

// random returns a Secret of n random bytes.
func random(n int) Secret {
	b := make([]byte, n)
	rand.Read(b) // never fails (crypto/rand)
	return NewSecret(b)
}

// Bytes returns the secret itself, not a copy. It must not reach a log, an
// error, a metric or the arguments of a process.
func (s Secret) Bytes() []byte {
	if s.reveal == nil {
		return nil
	}
	return s.reveal()
}

// Empty reports whether there is no secret.
func (s Secret) Empty() bool { return len(s.Bytes()) == 0 }

// Format implements fmt.Formatter for every verb.
func (s Secret) Format(f fmt.State, _ rune) { io.WriteString(f, "[secret]") }

// LogValue implements slog.LogValuer.
func (s Secret) LogValue() slog.Value { return slog.StringValue("[secret]") }

// scramRounds is the number that PostgreSQL itself uses. The password has 256 random bits, so more rounds would add
// nothing.
const scramRounds = 4096

// NewPassword makes the password of a role of PostgreSQL, and the verifier that the server keeps of it (SCRAM-SHA-256,
// RFC 5803). Nobody can find the password from the verifier, or log in with it.
func NewPassword() (password Secret, verifier string, err error) {
	var b [32 + 16]byte
	rand.Read(b[:]) // never fails (crypto/rand)
	text, salt := base64.RawURLEncoding.EncodeToString(b[:32]), b[32:]
	salted, err := pbkdf2.Key(sha256.New, text, salt, scramRounds, sha256.Size)
	if err != nil {
		return Secret{}, "", fmt.Errorf("making a password: %w", err)
	}
	stored := sha256.Sum256(scramKey(salted, "Client Key"))
	std := base64.StdEncoding.EncodeToString
	return NewSecret([]byte(text)), fmt.Sprintf("SCRAM-SHA-256$%d:%s$%s:%s", scramRounds, std(salt), std(stored[:]),
		std(scramKey(salted, "Server Key"))), nil
}

func scramKey(salted []byte, name string) []byte {
	h := hmac.New(sha256.New, salted)
	h.Write([]byte(name))
	return h.Sum(nil)
}

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
