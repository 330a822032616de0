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
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
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
