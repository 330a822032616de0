package seal

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"shuffled/internal/shuffle"
)

const origin = "example.org/table-games"

// testKey returns the key whose i-th byte is seed + i.
func testKey(t testing.TB, seed byte) *Key {
	t.Helper()
	k, err := NewKey(testSecret(seed))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func testSecret(seed byte) []byte {
	secret := make([]byte, KeySize)
	for i := range secret {
		secret[i] = seed + byte(i)
	}
	return secret
}

func testRing(t testing.TB, current *Key, older ...*Key) *Keyring {
	t.Helper()
	r, err := NewKeyring(current, older...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func testTape(n int) []byte {
	tape := make([]byte, n)
	rand.Read(tape)
	return tape
}

func mustSeal(t testing.TB, r *Keyring, origin string, commitment [32]byte, tape []byte) []byte {
	t.Helper()
	sealed, err := r.Seal(origin, commitment, tape)
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

// mustNotOpen checks that the sealed tape is refused with want and that no byte of a tape comes with the refusal.
func mustNotOpen(t *testing.T, r *Keyring, origin string, commitment [32]byte, sealed []byte, want error) {
	t.Helper()
	tape, err := r.Open(origin, commitment, sealed)
	if tape != nil || !errors.Is(err, want) {
		t.Errorf("%d bytes and error %v, want none and %v", len(tape), err, want)
	}
}

func TestSealOpen(t *testing.T) {
	r := testRing(t, testKey(t, 1))
	for _, n := range []int{1, 15, 16, 17, 129, 1255, shuffle.MaxTape} {
		for _, o := range []string{"x", origin, strings.Repeat("o", 255)} {
			tape, commitment := testTape(n), [32]byte(testTape(32))
			before := bytes.Clone(tape)
			sealed := mustSeal(t, r, o, commitment, tape)
			if len(sealed) != n+Overhead || Overhead != 45 {
				t.Errorf("%d bytes sealed are %d", n, len(sealed))
			}
			if !bytes.Equal(tape, before) {
				t.Error("Seal changed the tape")
			}
			if n >= 16 && bytes.Contains(sealed, tape[:16]) {
				t.Error("the tape is in the clear")
			}
			got, err := r.Open(o, commitment, sealed)
			if err != nil || !bytes.Equal(got, tape) {
				t.Errorf("opening %d bytes for %d bytes of origin: %v", n, len(o), err)
			}
		}
	}
}

// expand is HKDF-SHA256 for one block of output, from RFC 5869 alone.
func expand(secret, salt, info []byte) []byte {
	extract := hmac.New(sha256.New, salt)
	extract.Write(secret)
	block := hmac.New(sha256.New, extract.Sum(nil))
	block.Write(info)
	block.Write([]byte{1})
	return block.Sum(nil)
}

// TestLayout opens a sealed tape with nothing but the package comment.
func TestLayout(t *testing.T) {
	tape, commitment := testTape(129), [32]byte(testTape(32))
	sealed := mustSeal(t, testRing(t, testKey(t, 9)), origin, commitment, tape)
	if sealed[0] != 1 {
		t.Errorf("version %d", sealed[0])
	}
	id := sha256.Sum256(append([]byte("shuffled/v1/sealing-key-id\x00"), testSecret(9)...))
	if !bytes.Equal(sealed[1:17], id[:16]) {
		t.Errorf("key id %x, want %x", sealed[1:17], id[:16])
	}
	key := expand(testSecret(9), commitment[:], []byte("shuffled/v1/seal\x00"))
	block, err := aes.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatal(err)
	}
	data := "shuffled/v1/seal\x00" + string(rune(len(origin))) + origin + string(commitment[:])
	got, err := gcm.Open(nil, sealed[17:29], sealed[29:], []byte(data))
	if err != nil || !bytes.Equal(got, tape) {
		t.Errorf("opening by hand: %v", err)
	}
}

// TestVector opens a tape that was sealed when the format froze. Do not edit it:
// a change that needs a new vector makes stored tapes unreadable.
func TestVector(t *testing.T) {
	const id = "f7cc26a7e1d9eba06f691b1476287d0a"
	sealed, err := hex.DecodeString("01f7cc26a7e1d9eba06f691b1476287d0a8714ab333c0b67af43d7023ff312694ea68798f8e795358a32acee966a1d784e6cea29f4cb47b2c44358ca270a065708562d62589fb6cf12b35680a5")
	if err != nil {
		t.Fatal(err)
	}
	k := testKey(t, 1)
	if k.ID().String() != id {
		t.Errorf("key id %s, want %s", k.ID(), id)
	}
	tape, err := testRing(t, k).Open("example.org/vector", [32]byte{1, 2, 3}, sealed)
	if err != nil || string(tape) != "a tape of the vector, not random" {
		t.Errorf("%q, %v", tape, err)
	}
}

func TestOpenAltered(t *testing.T) {
	r := testRing(t, testKey(t, 1), testKey(t, 2))
	commitment := [32]byte(testTape(32))
	sealed := mustSeal(t, r, origin, commitment, testTape(60))
	for i := range sealed {
		for bit := range 8 {
			bad := bytes.Clone(sealed)
			bad[i] ^= 1 << bit
			want := ErrOpen
			if i >= 1 && i < 17 {
				want = ErrUnknownKey
			}
			mustNotOpen(t, r, origin, commitment, bad, want)
		}
	}
	for n := range sealed {
		mustNotOpen(t, r, origin, commitment, sealed[:n], ErrOpen)
	}
	mustNotOpen(t, r, origin, commitment, append(bytes.Clone(sealed), 0), ErrOpen)
	mustNotOpen(t, r, origin, commitment, make([]byte, shuffle.MaxTape+Overhead+1), ErrOpen)
	mustNotOpen(t, r, origin, commitment, nil, ErrOpen)

	// The id of another loaded key does not help either.
	other := bytes.Clone(sealed)
	id := testKey(t, 2).ID()
	copy(other[1:], id[:])
	mustNotOpen(t, r, origin, commitment, other, ErrOpen)

	if _, err := r.Open(origin, commitment, sealed); err != nil {
		t.Errorf("the unaltered tape: %v", err)
	}
}

// TestOpenMoved: a sealed tape of one commit does not open under another, in this ledger or in one with the same keys.
func TestOpenMoved(t *testing.T) {
	r := testRing(t, testKey(t, 1))
	commitment := [32]byte(testTape(32))
	sealed := mustSeal(t, r, origin, commitment, testTape(129))
	for bit := range 256 {
		other := commitment
		other[bit/8] ^= 1 << (bit % 8)
		mustNotOpen(t, r, origin, other, sealed, ErrOpen)
	}
	for _, o := range []string{origin + "x", origin[:len(origin)-1], strings.ToUpper(origin), "",
		strings.Repeat("o", 256)} {
		mustNotOpen(t, r, o, commitment, sealed, ErrOpen)
	}
	// Bytes pushed from the origin into the commitment and back: the length prefix keeps the two apart.
	shifted := [32]byte(append([]byte("s"), commitment[:31]...))
	mustNotOpen(t, r, strings.TrimSuffix(origin, "s"), shifted, sealed, ErrOpen)
}

func TestKeyRotation(t *testing.T) {
	oldKey, newKey := testKey(t, 1), testKey(t, 2)
	commitment, tape := [32]byte{7}, testTape(129)
	before := mustSeal(t, testRing(t, oldKey), origin, commitment, tape)
	ring := testRing(t, newKey, oldKey)
	after := mustSeal(t, ring, origin, commitment, tape)
	for _, sealed := range [][]byte{before, after} {
		if got, err := ring.Open(origin, commitment, sealed); err != nil || !bytes.Equal(got, tape) {
			t.Errorf("opening after the rotation: %v", err)
		}
	}
	if ring.Current() != newKey.ID() || KeyID(after[1:17]) != newKey.ID() {
		t.Error("the new key is not in use")
	}
	mustNotOpen(t, testRing(t, newKey), origin, commitment, before, ErrUnknownKey)
	mustNotOpen(t, testRing(t, oldKey), origin, commitment, after, ErrUnknownKey)
	if _, err := testRing(t, newKey).Open(origin, commitment, before); !strings.Contains(err.Error(),
		oldKey.ID().String()) {
		t.Errorf("the error %q does not name the missing key", err)
	}
}

// TestSealFresh: sealing twice gives different nonces and ciphertexts, and the key belongs to the commitment.
func TestSealFresh(t *testing.T) {
	r, tape := testRing(t, testKey(t, 1)), testTape(32)
	nonces, texts := map[string]bool{}, map[string]bool{}
	const n = 1000
	for range n {
		sealed := mustSeal(t, r, origin, [32]byte{1}, tape)
		nonces[string(sealed[17:29])] = true
		texts[string(sealed[29:])] = true
	}
	if len(nonces) != n || len(texts) != n {
		t.Errorf("%d nonces and %d ciphertexts of %d", len(nonces), len(texts), n)
	}
	a := expand(testSecret(1), bytes.Repeat([]byte{1}, 32), []byte(labelSeal))
	b := expand(testSecret(1), bytes.Repeat([]byte{2}, 32), []byte(labelSeal))
	if bytes.Equal(a, b) {
		t.Error("two commitments share a key")
	}
}

func TestSealRefuses(t *testing.T) {
	r := testRing(t, testKey(t, 1))
	for _, c := range []struct {
		name   string
		origin string
		tape   int
	}{
		{"no tape", origin, 0},
		{"long tape", origin, shuffle.MaxTape + 1},
		{"no origin", "", 129},
		{"long origin", strings.Repeat("o", 256), 129},
	} {
		if sealed, err := r.Seal(c.origin, [32]byte{}, make([]byte, c.tape)); sealed != nil || err == nil {
			t.Errorf("%s: %d bytes, error %v", c.name, len(sealed), err)
		}
	}
}

func TestKeyringConcurrent(t *testing.T) {
	r := testRing(t, testKey(t, 1), testKey(t, 2))
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for j := range 50 {
				commitment, tape := [32]byte{byte(i), byte(j)}, testTape(129)
				sealed, err := r.Seal(origin, commitment, tape)
				if err != nil {
					t.Error(err)
					return
				}
				if got, err := r.Open(origin, commitment, sealed); err != nil || !bytes.Equal(got, tape) {
					t.Errorf("opening: %v", err)
				}
			}
		})
	}
	wg.Wait()
}

func FuzzOpen(f *testing.F) {
	r := testRing(f, testKey(f, 1))
	f.Add(mustSeal(f, r, origin, [32]byte{}, []byte("tape")))
	f.Add([]byte{1})
	f.Fuzz(func(t *testing.T, sealed []byte) {
		tape, err := r.Open(origin, [32]byte{5}, sealed)
		if tape != nil || err == nil {
			t.Fatalf("%x opens", sealed)
		}
	})
}

func ExampleKeyring() {
	secret := []byte("32 bytes that nobody else knows.")
	key, err := NewKey(secret)
	if err != nil {
		panic(err)
	}
	ring, err := NewKeyring(key)
	if err != nil {
		panic(err)
	}
	commitment := [32]byte{31: 1}
	sealed, err := ring.Seal("example.org/ledger", commitment, []byte("tape"))
	if err != nil {
		panic(err)
	}
	tape, err := ring.Open("example.org/ledger", commitment, sealed)
	fmt.Println(len(sealed), string(tape), err)
	// Output: 49 tape <nil>
}
