package inspecttest

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strings"

	"shuffled/internal/audit"
)

// Text returns the text of the checkpoint of all entries so far.
func (l *Ledger) Text() string {
	return audit.Checkpoint{Origin: l.origin, Size: l.Size, Root: l.Root()}.Text()
}

// Signed returns the checkpoint signed by these keys, by the one in force if there are none.
func (l *Ledger) Signed(keys ...ed25519.PrivateKey) []byte {
	if len(keys) == 0 {
		keys = append(keys, l.signing)
	}
	return l.long.Sign(Sign(l.Text(), keys...), l.Text())
}

// Sign signs the text of a checkpoint under the ledger's name, its first line.
func Sign(text string, keys ...ed25519.PrivateKey) []byte {
	origin, _, _ := strings.Cut(text, "\n")
	b := []byte(text + "\n")
	for _, k := range keys {
		b = append(b, line(origin, 1, k, ed25519.Sign(k, []byte(text)))...)
	}
	return b
}

// Cosign adds the cosignatures of witnesses, by name, at a time in seconds.
func Cosign(signed []byte, at int64, witnesses ...string) []byte {
	text := string(signed[:bytes.LastIndex(signed, []byte("\n\n"))+1])
	b := bytes.Clone(signed)
	for _, w := range witnesses {
		k := Key("witness " + w)
		sig := ed25519.Sign(k, fmt.Appendf(nil, "cosignature/v1\ntime %d\n%s", at, text))
		b = append(b, line(WitnessName(w), 4, k, append(binary.BigEndian.AppendUint64(nil, uint64(at)), sig...))...)
	}
	return b
}

// line is a line of a signed note.
func line(name string, kind byte, k ed25519.PrivateKey, sig []byte) string {
	return "— " + name + " " + base64.StdEncoding.EncodeToString(append(keyHash(name, kind, k), sig...)) + "\n"
}

func keyHash(name string, kind byte, k ed25519.PrivateKey) []byte {
	h := sha256.Sum256(append([]byte(name+"\n"+string(kind)), k.Public().(ed25519.PublicKey)...))
	return h[:4]
}

func vkey(name string, kind byte, k ed25519.PrivateKey) string {
	return fmt.Sprintf("%s+%x+%s", name, keyHash(name, kind, k),
		base64.StdEncoding.EncodeToString(append([]byte{kind}, k.Public().(ed25519.PublicKey)...)))
}

// WitnessName is the name of a witness's key.
func WitnessName(w string) string { return "witness.example/" + w }

// Policy is a tlog-policy of witnesses by name, of whom quorum must cosign. With log it pins the ledger's first key.
func Policy(log bool, quorum int, witnesses ...string) []byte {
	if log {
		return PolicyOf(Origin, quorum, witnesses...)
	}
	return PolicyOf("", quorum, witnesses...)
}

// PolicyOf is Policy with the first key of the ledger with this origin; "": of none.
func PolicyOf(origin string, quorum int, witnesses ...string) []byte {
	var b strings.Builder
	if origin != "" {
		fmt.Fprintf(&b, "log %s\n", VKeyOf(origin))
	}
	for _, w := range witnesses {
		fmt.Fprintf(&b, "witness %s %s\n", w, vkey(WitnessName(w), 4, Key("witness "+w)))
	}
	fmt.Fprintf(&b, "group all-of-them %d %s\nquorum all-of-them\n", quorum, strings.Join(witnesses, " "))
	return []byte(b.String())
}

// VKey is the verifier key of a ledger that was not rotated.
func VKey() string { return VKeyOf(Origin) }

// VKeyOf is VKey of the ledger with this origin.
func VKeyOf(origin string) string { return vkey(origin, 1, firstKey(origin)) }

// firstKey is the first signing key of the ledger with this origin.
func firstKey(origin string) ed25519.PrivateKey {
	if origin == Origin {
		return Key("signing 0")
	}
	return Key("signing 0 of " + origin)
}

// VKey returns the verifier key in force.
func (l *Ledger) VKey() string { return vkey(l.origin, 1, l.signing) }

// Cosigned keeps the checkpoint of all entries so far with the cosignatures of witnesses, and returns its size.
func (l *Ledger) Cosigned(witnesses ...string) uint64 {
	l.KeepCosigned(Cosign(l.Signed(), l.Now/1000, witnesses...))
	return l.Size
}

// KeepCosigned keeps a note among the cosigned checkpoints, whatever it is.
func (l *Ledger) KeepCosigned(signed []byte) { l.cosigned = append(l.cosigned, signed) }

// Rotate hands on to another signing key; the checkpoint is signed by both.
func (l *Ledger) Rotate() {
	l.RotateSigned(func(old, next ed25519.PrivateKey) []byte { return l.Signed(old, next) })
}

// RotateSigned is Rotate with a checkpoint that the caller signs.
func (l *Ledger) RotateSigned(sign func(old, next ed25519.PrivateKey) []byte) {
	old := l.signing
	l.keyCount++
	l.signing = Key(fmt.Sprint("signing ", l.keyCount))
	l.Append(&audit.Key{Subject: audit.SubjectSigning, Public: Public(l.signing)})
	if signed := sign(old, l.signing); signed != nil {
		l.signed = append(l.signed, signed)
	}
}
