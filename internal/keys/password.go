package keys

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
)

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
