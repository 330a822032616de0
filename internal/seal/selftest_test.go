package seal

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"slices"
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

// TestSplit: what was joined comes apart again, and what has one byte more or less than its recipe asks for does not.
func TestSplit(t *testing.T) {
	for name, c := range map[string]struct {
		tape   int
		inputs []uint32
	}{
		"no child":     {129, nil},
		"a child":      {129, []uint32{0, 1, 255, 256, 65_535}},
		"the shortest": {1, nil},
		"of two cards": {20, []uint32{7, 3}},
	} {
		tape := bytes.Repeat([]byte{5}, c.tape)
		joined := Join(tape, c.inputs)
		gotTape, gotInputs, err := Split(joined, c.tape, len(c.inputs))
		if err != nil || !bytes.Equal(gotTape, tape) || !slices.Equal(gotInputs, c.inputs) {
			t.Errorf("%s: %x, %v, %v", name, gotTape, gotInputs, err)
		}
		if cap(gotTape) != c.tape {
			t.Errorf("%s: the tape has room for %d bytes, those of the inputs among them", name, cap(gotTape))
		}
		for _, more := range []int{1, 2, 16, len(joined)} {
			longer := append(slices.Clone(joined), make([]byte, more)...)
			if tape, inputs, err := Split(longer, c.tape, len(c.inputs)); err == nil || tape != nil || inputs != nil {
				t.Errorf("%s, and %d bytes more: %d bytes and %v, %v", name, more, len(tape), inputs, err)
			}
		}
		for less := 1; less <= len(joined); less++ {
			if _, _, err := Split(joined[:len(joined)-less], c.tape, len(c.inputs)); err == nil {
				t.Errorf("%s, and %d bytes less: accepted", name, less)
			}
		}
		// One input more is two bytes of the tape less.
		if _, _, err := Split(joined, c.tape, len(c.inputs)+1); err == nil {
			t.Errorf("%s, with one input more: accepted", name)
		}
	}
}
