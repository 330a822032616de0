package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"shuffled/internal/known"
)

// TestSealedBox makes the box of sealed-tape from the layout of package seal with nothing but HMAC and AES-GCM.
func TestSealedBox(t *testing.T) {
	key, commitment, nonce, tape := known.Count(0x01, 32), known.Count(0x40, 32), known.Count(0xc0, 12),
		known.Count(0xa0, 16)
	mac := func(key []byte, message ...byte) []byte {
		m := hmac.New(sha256.New, key)
		m.Write(message)
		return m.Sum(nil)
	}
	const label, origin = "shuffled/v1/seal\x00", "vectors.example/ledger-1"
	block, err := aes.NewCipher(mac(mac(commitment, key...), append([]byte(label), 1)...))
	if err != nil {
		t.Fatal(err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatal(err)
	}
	id := sha256.Sum256(append([]byte("shuffled/v1/sealing-key-id\x00"), key...))
	data := append([]byte(label+string(rune(len(origin)))+origin), commitment...)
	box := append(append([]byte{1}, id[:16]...), aead.Seal(nonce, nonce, tape, data)...)
	a := new(known.Answers)
	SelfTest("", a)
	if len(a.Wrong) > 0 {
		t.Error(a.Wrong)
	}
	if got, want := hex.EncodeToString(box), sealedBox; got != want {
		t.Errorf("the box is %s, not %s", got, want)
	}
}
