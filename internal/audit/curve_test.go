package audit

import (
	"bytes"
	"math/big"
	"slices"
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
