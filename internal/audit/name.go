package audit

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/mod/sumdb/tlog"
)

// CheckName reports whether s follows the grammar of tables, recipients, game references, identities and credentials: 1
// to MaxName letters, digits, dots, underscores and hyphens, the first a letter or digit (docs/SPEC.md section 1.5).
// Anything that could name a person goes through Reference first.
func CheckName(s string) error {
	if s == "" || len(s) > MaxName {
		return fmt.Errorf("must have 1 to %d characters, not %d", MaxName, len(s))
	}
	for i := range len(s) {
		c := s[i]
		alnum := c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !alnum && (i == 0 || c != '.' && c != '_' && c != '-') {
			return errors.New("must have only letters, digits, '.', '_' and '-', and start with a letter or digit")
		}
	}
	return nil
}

// CheckOrigin reports whether s can be a ledger's origin, which is also its key name: 1 to MaxOrigin lower-case
// letters, digits, dots, hyphens, underscores and slashes, no slash at either end (docs/SPEC.md section 1.5; narrower
// than C2SP's key names).
func CheckOrigin(s string) error {
	if s == "" || len(s) > MaxOrigin {
		return fmt.Errorf("must have 1 to %d characters, not %d", MaxOrigin, len(s))
	}
	for i := range len(s) {
		c := s[i]
		alnum := c >= '0' && c <= '9' || c >= 'a' && c <= 'z'
		if !alnum && (i == 0 || i == len(s)-1 || !strings.ContainsRune("./_-", rune(c))) {
			return errors.New("must have only lower-case letters, digits, '.', '/', '_' and '-', and start and end with a letter or digit")
		}
	}
	return nil
}

// CheckReason reports whether s can be an operator's reason: 1 to MaxReason printable ASCII characters.
func CheckReason(s string) error {
	return checkPrintable(s, MaxReason, ' ', "must have only printable ASCII characters")
}

// checkPrintable refuses what does not have 1 to longest characters from first to '~'.
func checkPrintable(s string, longest int, first rune, rule string) error {
	if s == "" || len(s) > longest {
		return fmt.Errorf("must have 1 to %d characters, not %d", longest, len(s))
	}
	if strings.ContainsFunc(s, func(r rune) bool { return r < first || r > '~' }) {
		return errors.New(rule)
	}
	return nil
}

// Reference turns something that names a person into a name that does not: "h." and 43 base64url characters of
// SHA-256(label ‖ u8-prefixed salt ‖ u16-prefixed value) (docs/SPEC.md section 1.5). The salt, 16 to 255 secret bytes,
// stays with the operator.
func Reference(salt []byte, value string) (string, error) {
	if len(salt) < 16 || len(salt) > 255 || len(value) > 65_535 {
		return "", errors.New("a reference takes a salt of 16 to 255 bytes and a value of at most 65,535")
	}
	b := str8([]byte(labelReference), string(salt))
	b = binary.BigEndian.AppendUint16(b, uint16(len(value)))
	h := sha256.Sum256(append(b, value...))
	return "h." + base64.RawURLEncoding.EncodeToString(h[:]), nil
}

// str8 appends a string to b, after a byte of its length, which is at most 255.
func str8(b []byte, s string) []byte { return append(append(b, byte(len(s))), s...) }

// MaxIdempotencyKey is the longest idempotency key in characters.
const MaxIdempotencyKey = 255

// CheckIdempotencyKey reports whether key can be an idempotency key: 1 to
// MaxIdempotencyKey printable ASCII characters without spaces.
func CheckIdempotencyKey(key string) error {
	return checkPrintable(key, MaxIdempotencyKey, '!', "must have only printable ASCII characters and no spaces")
}

// KeyTag returns what a commit says of its idempotency key: 6 bytes that order it, then the first 26 bytes of
// SHA-256(label ‖ origin ‖ identity ‖ table ‖ key), each u8-prefixed (docs/SPEC.md section 5.3). The 6 bytes are the
// time in a UUIDv7 key, zero for any other: keys of the same minute stand together in an index, so that a lookup does
// not touch a cold page.
func KeyTag(origin, identity, table, key string) (tag [32]byte) {
	b := append(make([]byte, 0, 640), labelKeyTag...) // on the stack: 537 bytes at most
	for _, s := range []string{origin, identity, table, key} {
		b = str8(b, s)
	}
	h := sha256.Sum256(b)
	t := timeOfUUIDv7(key)
	copy(tag[:], t[:])
	copy(tag[6:], h[:26])
	return tag
}

// timeOfUUIDv7 returns the 48-bit time of a key in the text form of a UUIDv7 (RFC 9562: version digit 7, variant bits
// 10, digits of either case), zero for any other key.
func timeOfUUIDv7(key string) (t [6]byte) {
	b, err := hex.DecodeString(strings.ReplaceAll(key, "-", ""))
	if err != nil || len(b) != 16 || len(key) != 36 || key[8] != '-' || key[13] != '-' || key[18] != '-' ||
		key[23] != '-' || b[6]>>4 != 7 || b[8]>>6 != 2 {
		return t
	}
	return [6]byte(b[:6])
}

// ParseHash reads 32 bytes of padded base64 in their one form.
func ParseHash(s string) (h tlog.Hash, err error) {
	b, err := base64.StdEncoding.Strict().DecodeString(s)
	if err != nil || len(b) != len(h) || len(s) != 44 {
		return h, fmt.Errorf("not 32 bytes of padded base64")
	}
	return tlog.Hash(b), nil
}

// Printable keeps text from outside out of the way of terminals and logs: what does not print becomes a question mark.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
}

// Short is Printable of the first 200 bytes, for errors.
func Short(s string) string { return Printable(s[:min(len(s), 200)]) }
