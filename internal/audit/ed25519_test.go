package audit

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"testing"

	"golang.org/x/mod/sumdb/note"
)

// edPoint is an affine point of edwards25519, for naive arithmetic in tests.
type edPoint struct{ x, y *big.Int }

// The field and the curve −x² + y² = 1 + dx²y² of RFC 8032 section 5.1.
var (
	fieldP = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 255), big.NewInt(19))
	curveD = new(big.Int).Mod(new(big.Int).Mul(big.NewInt(-121665),
		new(big.Int).ModInverse(big.NewInt(121666), fieldP)), fieldP)
)

func mulP(a, b *big.Int) *big.Int { return new(big.Int).Mod(new(big.Int).Mul(a, b), fieldP) }

// decode is RFC 8032 section 5.1.3, by math/big; nil when there is no point.
func decode(b []byte) *edPoint {
	y := bytes.Clone(b)
	sign := uint(y[31] >> 7)
	y[31] &= 0x7f
	slices.Reverse(y)
	n := new(big.Int).SetBytes(y)
	if n.Cmp(fieldP) >= 0 {
		return nil
	}
	y2 := mulP(n, n)
	num := new(big.Int).Sub(y2, big.NewInt(1))
	den := new(big.Int).Add(mulP(curveD, y2), big.NewInt(1))
	x := new(big.Int).ModSqrt(mulP(num.Mod(num, fieldP), new(big.Int).ModInverse(den, fieldP)), fieldP)
	if x == nil || x.Sign() == 0 && sign == 1 {
		return nil
	}
	if x.Bit(0) != sign {
		x.Sub(fieldP, x)
	}
	return &edPoint{x, n}
}

// double adds a point to itself with the complete law of the curve.
func (p *edPoint) double() *edPoint {
	one := big.NewInt(1)
	k := mulP(curveD, mulP(mulP(p.x, p.x), mulP(p.y, p.y)))
	x := mulP(mulP(big.NewInt(2), mulP(p.x, p.y)), new(big.Int).ModInverse(new(big.Int).Add(one, k), fieldP))
	den := new(big.Int).Mod(new(big.Int).Sub(one, k), fieldP)
	y := mulP(new(big.Int).Add(mulP(p.y, p.y), mulP(p.x, p.x)), new(big.Int).ModInverse(den, fieldP))
	return &edPoint{x, y}
}

func (p *edPoint) identity() bool { return p.x.Sign() == 0 && p.y.Cmp(big.NewInt(1)) == 0 }

// TestSmallOrderList: the listed coordinates, with both signs, are exactly the
// eight points that three doublings take to the identity.
func TestSmallOrderList(t *testing.T) {
	points := map[string]bool{}
	for _, y := range smallOrder {
		for _, sign := range []byte{0, 0x80} {
			b := y
			b[31] |= sign
			p := decode(b[:])
			if p == nil {
				continue // x = 0 has no second sign
			}
			if !p.double().double().double().identity() {
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
	for _, y := range smallOrder {
		for _, sign := range []byte{0, 0x80} {
			b := y
			b[31] |= sign
			bad[fmt.Sprintf("small order %x", b)] = b[:]
		}
	}
	// The 19 values that fit into 255 bits twice, with both signs.
	for i := range int64(19) {
		b := le(new(big.Int).Add(fieldP, big.NewInt(i)))
		bad[fmt.Sprintf("p + %d", i)] = bytes.Clone(b)
		b[31] |= 0x80
		bad[fmt.Sprintf("p + %d, negative", i)] = b
	}
	for name, key := range bad {
		if err := CheckEd25519(key); !errors.Is(err, ErrWeakKey) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for range 100 {
		public, _, err := ed25519.GenerateKey(nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := CheckEd25519(public); err != nil {
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
		p := decode(b)
		want := p != nil && !p.double().double().double().identity()
		if got := CheckEd25519(b) == nil; got != want {
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
	if v, err := ParseVKey(vkey); v != nil || !errors.Is(err, ErrWeakKey) {
		t.Errorf("accepted: %v", err)
	}
}
