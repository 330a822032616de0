package spec

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"

	"filippo.io/mldsa"
)

// Checkpoints and receipts of docs/SPEC.md section 7, written by hand from the
// C2SP texts: signed-note, tlog-checkpoint, tlog-cosignature, tlog-proof.

// Base64 is padded base64.
func Base64(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

// Checkpoint is the text of a checkpoint.
func Checkpoint(origin string, size uint64, root []byte) string {
	return fmt.Sprintf("%s\n%d\n%s\n", origin, size, Base64(root))
}

// KeyHash is the key hash of a signed note: of name, newline, signature type and public key.
func KeyHash(name string, typ byte, key ed25519.PrivateKey) []byte {
	return Sum(name, "\n", typ, []byte(key.Public().(ed25519.PublicKey)))[:4]
}

// VKey is the verifier key of a ledger with an Ed25519 key.
func VKey(name string, key ed25519.PrivateKey) string {
	public := append([]byte{1}, key.Public().(ed25519.PublicKey)...)
	return name + "+" + hex.EncodeToString(KeyHash(name, 1, key)) + "+" + Base64(public)
}

// Sign is one signature line of a note.
func Sign(text, name string, key ed25519.PrivateKey) string {
	return "— " + name + " " + Base64(append(KeyHash(name, 1, key), ed25519.Sign(key, []byte(text))...)) + "\n"
}

// Cosign is the line of a witness.
func Cosign(text, name string, key ed25519.PrivateKey, time uint64) string {
	sig := ed25519.Sign(key, fmt.Appendf(nil, "cosignature/v1\ntime %d\n%s", time, text))
	return "— " + name + " " + Base64(Join(KeyHash(name, 4, key), time, sig)) + "\n"
}

// Note is a signed note: text, blank line, signature lines.
func Note(text string, lines ...string) string { return text + "\n" + strings.Join(lines, "") }

// Receipt is the text of a receipt.
func Receipt(entry []byte, index uint64, path [][]byte, signed string) string {
	lines := []string{"c2sp.org/tlog-proof@v1", "extra " + Base64(entry), fmt.Sprintf("index %d", index)}
	for _, h := range path {
		lines = append(lines, Base64(h))
	}
	return strings.Join(lines, "\n") + "\n\n" + signed
}

// refMLDSA is the type byte and public key of an ML-DSA-44 key.
func refMLDSA(owner string) []byte {
	return append([]byte{6}, mldsaOf(owner).PublicKey().Bytes()...)
}

func mldsaOf(owner string) *mldsa.PrivateKey {
	seed := sha256.Sum256([]byte("ml-dsa-44 of " + owner))
	key, err := mldsa.NewPrivateKey(mldsa.MLDSA44(), seed[:])
	if err != nil {
		panic(err)
	}
	return key
}

// MLDSAKey is the verifier key of an owner's ML-DSA-44 key.
func MLDSAKey(name, owner string) string {
	return name + "+" + hex.EncodeToString(Sum(name, "\n", refMLDSA(owner))[:4]) + "+" + Base64(refMLDSA(owner))
}

// MLDSALine is a signature line by the text of C2SP tlog-cosignature, its message written by hand.
func MLDSALine(name, owner string, time uint64, origin string, size uint64, root []byte) string {
	message := Join("subtree/v1\n\x00", uint8(len(name)), name, time, uint8(len(origin)), origin, uint64(0), size,
		root)
	sig, err := mldsaOf(owner).SignDeterministic(message, nil)
	if err != nil {
		panic(err)
	}
	return "— " + name + " " + Base64(Join(Sum(name, "\n", refMLDSA(owner))[:4], time, sig)) + "\n"
}

// WitnessKey is the verifier key of a witness: cosignature/v1 with Ed25519.
func WitnessKey(name string, key ed25519.PrivateKey) string {
	public := append([]byte{4}, key.Public().(ed25519.PublicKey)...)
	return name + "+" + hex.EncodeToString(KeyHash(name, 4, key)) + "+" + Base64(public)
}

// PolicyWords puts keys into the texts of these tests.
var PolicyWords = strings.NewReplacer(
	"LOG", VKey(SampleOrigin, Signer(HouseKey)), "OTHER", VKey("casino.example/other", Signer("2")),
	"W1", WitnessKey("witness.example/w1", Signer("w1")), "W2", WitnessKey("witness.example/w2", Signer("w2")),
	"W3", WitnessKey("witness.example/w3", Signer("w3")),
	"ALIAS", WitnessKey("witness.example/alias", Signer("w1")), "PLAIN", VKey("witness.example/w1", Signer("w1")),
	"WEAK", WitnessKey("witness.example/1",
		append(make(ed25519.PrivateKey, 32), append([]byte{1}, make([]byte, 31)...)...)),
	"WRONGID", "witness.example/w1+00000000+"+strings.SplitN(WitnessKey("witness.example/w1", Signer("w1")), "+",
		3)[2],
	"CAPITAL", strings.ReplaceAll(WitnessKey("witness.example/w1", Signer("w1")), idOfW1, strings.ToUpper(idOfW1)),
	"MLDSA", MLDSAKey("witness.example/w1", "w1"),
	"MLWRONG", "witness.example/w1+01020304+"+Base64(refMLDSA("w1")),
	"LONG", MLDSAKey(strings.Repeat("x", 256), "w1"), "SHORT", MLDSAKey(strings.Repeat("x", 255), "w1"),
	"LATER", "witness.example/w1+01020304+"+Base64(append([]byte{7}, make([]byte, 1312)...)),
	"EMPTY", "witness.example/w1+01020304+"+Base64([]byte{7}),
)

var idOfW1 = strings.Split(WitnessKey("witness.example/w1", Signer("w1")), "+")[1]
