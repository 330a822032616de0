package audit

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
)

// Checkpoints and receipts of docs/SPEC.md section 7, written by hand from the
// C2SP texts: signed-note, tlog-checkpoint, tlog-cosignature, tlog-proof.

func refBase64(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

func refCheckpoint(origin string, size uint64, root []byte) string {
	return fmt.Sprintf("%s\n%d\n%s\n", origin, size, refBase64(root))
}

// refKeyHash is the key hash of a signed note: of name, newline, signature type and public key.
func refKeyHash(name string, typ byte, key ed25519.PrivateKey) []byte {
	return refSum(name, "\n", typ, []byte(key.Public().(ed25519.PublicKey)))[:4]
}

func refVKey(name string, key ed25519.PrivateKey) string {
	public := append([]byte{1}, key.Public().(ed25519.PublicKey)...)
	return name + "+" + hex.EncodeToString(refKeyHash(name, 1, key)) + "+" + refBase64(public)
}

// refSign is one signature line of a note.
func refSign(text, name string, key ed25519.PrivateKey) string {
	return "— " + name + " " + refBase64(append(refKeyHash(name, 1, key), ed25519.Sign(key, []byte(text))...)) + "\n"
}

// refCosign is the line of a witness.
func refCosign(text, name string, key ed25519.PrivateKey, time uint64) string {
	sig := ed25519.Sign(key, fmt.Appendf(nil, "cosignature/v1\ntime %d\n%s", time, text))
	return "— " + name + " " + refBase64(refJoin(refKeyHash(name, 4, key), time, sig)) + "\n"
}

// refNote is a signed note: text, blank line, signature lines.
func refNote(text string, lines ...string) string { return text + "\n" + strings.Join(lines, "") }

func refReceipt(entry []byte, index uint64, path [][]byte, signed string) string {
	lines := []string{"c2sp.org/tlog-proof@v1", "extra " + refBase64(entry), fmt.Sprintf("index %d", index)}
	for _, h := range path {
		lines = append(lines, refBase64(h))
	}
	return strings.Join(lines, "\n") + "\n\n" + signed
}
