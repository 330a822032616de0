package audit

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

func refMLDSAKey(name, owner string) string {
	return name + "+" + hex.EncodeToString(refSum(name, "\n", refMLDSA(owner))[:4]) + "+" + refBase64(refMLDSA(owner))
}

// refMLDSALine is a signature line by the text of C2SP tlog-cosignature, its message written by hand.
func refMLDSALine(name, owner string, time uint64, origin string, size uint64, root []byte) string {
	message := refJoin("subtree/v1\n\x00", uint8(len(name)), name, time, uint8(len(origin)), origin, uint64(0), size,
		root)
	sig, err := mldsaOf(owner).SignDeterministic(message, nil)
	if err != nil {
		panic(err)
	}
	return "— " + name + " " + refBase64(refJoin(refSum(name, "\n", refMLDSA(owner))[:4], time, sig)) + "\n"
}

// refWitnessKey is the verifier key of a witness: cosignature/v1 with Ed25519.
func refWitnessKey(name string, key ed25519.PrivateKey) string {
	public := append([]byte{4}, key.Public().(ed25519.PublicKey)...)
	return name + "+" + hex.EncodeToString(refKeyHash(name, 4, key)) + "+" + refBase64(public)
}

// policyWords puts keys into the texts of these tests.
var policyWords = strings.NewReplacer(
	"LOG", refVKey(sampleOrigin, signer(houseKey)), "OTHER", refVKey("casino.example/other", signer("2")),
	"W1", refWitnessKey("witness.example/w1", signer("w1")), "W2", refWitnessKey("witness.example/w2", signer("w2")),
	"W3", refWitnessKey("witness.example/w3", signer("w3")),
	"ALIAS", refWitnessKey("witness.example/alias", signer("w1")), "PLAIN", refVKey("witness.example/w1", signer("w1")),
	"WEAK", refWitnessKey("witness.example/1",
		append(make(ed25519.PrivateKey, 32), append([]byte{1}, make([]byte, 31)...)...)),
	"WRONGID", "witness.example/w1+00000000+"+strings.SplitN(refWitnessKey("witness.example/w1", signer("w1")), "+",
		3)[2],
	"CAPITAL", strings.ReplaceAll(refWitnessKey("witness.example/w1", signer("w1")), idOfW1, strings.ToUpper(idOfW1)),
	"MLDSA", refMLDSAKey("witness.example/w1", "w1"),
	"MLWRONG", "witness.example/w1+01020304+"+refBase64(refMLDSA("w1")),
	"LONG", refMLDSAKey(strings.Repeat("x", 256), "w1"), "SHORT", refMLDSAKey(strings.Repeat("x", 255), "w1"),
	"LATER", "witness.example/w1+01020304+"+refBase64(append([]byte{7}, make([]byte, 1312)...)),
	"EMPTY", "witness.example/w1+01020304+"+refBase64([]byte{7}),
)

var idOfW1 = strings.Split(refWitnessKey("witness.example/w1", signer("w1")), "+")[1]
