package audit_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"testing"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
	"shuffled/internal/audit/spec"
)

// TestSmallOrderList: the listed coordinates, with both signs, are exactly the
// eight points that three doublings take to the identity.
func TestSmallOrderList(t *testing.T) {
	points := map[string]bool{}
	for _, y := range audit.SmallOrder {
		for _, sign := range []byte{0, 0x80} {
			b := y
			b[31] |= sign
			p := spec.Decode(b[:])
			if p == nil {
				continue // x = 0 has no second sign
			}
			if !p.Double().Double().Double().Identity() {
				t.Errorf("%x is not of small order", b)
			}
			points[hex.EncodeToString(b[:])] = true
		}
	}
	// Ed25519's group has cofactor 8, so there are eight such points.
	if len(points) != 8 {
		t.Errorf("%d points of 8", len(points))
	}
}

func TestCheckEd25519(t *testing.T) {
	le := func(n *big.Int) []byte {
		b := n.FillBytes(make([]byte, 32))
		slices.Reverse(b)
		return b
	}
	bad := map[string][]byte{
		"empty":    {},
		"31 bytes": make([]byte, 31),
		"33 bytes": make([]byte, 33),
		"all ones": bytes.Repeat([]byte{0xff}, 32),
	}
	for _, y := range audit.SmallOrder {
		for _, sign := range []byte{0, 0x80} {
			b := y
			b[31] |= sign
			bad[fmt.Sprintf("small order %x", b)] = b[:]
		}
	}
	// The 19 values that fit into 255 bits twice, with both signs.
	for i := range int64(19) {
		b := le(new(big.Int).Add(spec.FieldP, big.NewInt(i)))
		bad[fmt.Sprintf("p + %d", i)] = bytes.Clone(b)
		b[31] |= 0x80
		bad[fmt.Sprintf("p + %d, negative", i)] = b
	}
	for name, key := range bad {
		if err := audit.CheckEd25519(key); !errors.Is(err, audit.ErrWeakKey) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for range 100 {
		public, _, err := ed25519.GenerateKey(nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := audit.CheckEd25519(public); err != nil {
			t.Errorf("%x: %v", public, err)
		}
	}
}

// TestCheckEd25519AgainstDecoding: of all small y, those and only those are
// accepted that decode to a point of larger order.
func TestCheckEd25519AgainstDecoding(t *testing.T) {
	accepted := 0
	for i := range 600 {
		b := make([]byte, 32)
		b[0], b[1], b[31] = byte(i), byte(i>>8), byte(i%2)<<7
		p := spec.Decode(b)
		want := p != nil && !p.Double().Double().Double().Identity()
		if got := audit.CheckEd25519(b) == nil; got != want {
			t.Errorf("%x: %v, want %v", b, got, want)
		}
		if want {
			accepted++
		}
	}
	if accepted < 200 || accepted > 400 {
		t.Errorf("%d of 600 are points; about half should be", accepted)
	}
}

// TestWhySmallOrder shows what the check is for: under the identity as key, one
// signature fits every message in Go's verification.
func TestWhySmallOrder(t *testing.T) {
	identity := [32]byte{0: 1}
	sig := make([]byte, 64)
	sig[0] = 1 // R = identity, S = 0
	for _, message := range []string{"deal the ace", "deal the king"} {
		if !ed25519.Verify(identity[:], []byte(message), sig) {
			t.Fatal("Go refuses small-order keys now: this check may go")
		}
	}
	vkey, err := note.NewEd25519VerifierKey("example.org/forged", identity[:])
	if err != nil {
		t.Fatal(err)
	}
	if v, err := audit.ParseVKey(vkey); v != nil || !errors.Is(err, audit.ErrWeakKey) {
		t.Errorf("accepted: %v", err)
	}
}

// TestSmallR: who holds the key can sign with R = 0·B, which Go's verification takes
// and docs/SPEC.md section 7.1 refuses, under an act as under a checkpoint.
func TestSmallR(t *testing.T) {
	t.Parallel()
	key, text := spec.AdminSigner("alice"), []byte("an act")
	public := key.Public().(ed25519.PublicKey)
	little := func(b []byte) *big.Int {
		b = slices.Clone(b)
		slices.Reverse(b)
		return new(big.Int).SetBytes(b)
	}
	h := sha512.Sum512(key.Seed())
	h[0], h[31] = h[0]&248, h[31]&127|64
	order, _ := new(big.Int).SetString("7237005577332262213973186563042994240857116359379907606001950938285454250989",
		10)
	r := append([]byte{1}, make([]byte, 31)...)
	k := sha512.Sum512(slices.Concat(r, public, text))
	s := new(big.Int).Mul(little(k[:]), little(h[:32]))
	scalar := s.Mod(s, order).FillBytes(make([]byte, 32))
	slices.Reverse(scalar)
	signature := append(r, scalar...)
	if !ed25519.Verify(public, text, signature) {
		t.Fatal("the signature is none")
	}
	if audit.VerifyEd25519(public, text, signature) {
		t.Error("R of small order is accepted")
	}
	if !audit.VerifyEd25519(public, text, ed25519.Sign(key, text)) {
		t.Error("a signature is refused")
	}
}
