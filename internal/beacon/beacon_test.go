package beacon

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"math/big"
	"testing"

	"github.com/cloudflare/circl/ecc/bls12381"
	"github.com/cloudflare/circl/sign/bls"

	"shuffled/internal/audit"
	"shuffled/internal/beacon/beacontest"
)

// TestPublishedRounds proves key, message, tag and groups right by what the chain itself signed.
func TestPublishedRounds(t *testing.T) {
	t.Parallel()
	rounds := beacontest.Rounds()
	if len(rounds) < 10 {
		t.Fatalf("only %d rounds", len(rounds))
	}
	for i, r := range rounds {
		if err := Verify(r.Round, r.Signature); err != nil {
			t.Errorf("round %d: %v", r.Round, err)
		}
		other := rounds[(i+1)%len(rounds)]
		if err := Verify(other.Round, r.Signature); !errors.Is(err, ErrSignature) {
			t.Errorf("the signature of round %d, as that of round %d: %v", r.Round, other.Round, err)
		}
	}
}

// TestChainHash computes the chain's hash as drand does. It covers the pinned key.
func TestChainHash(t *testing.T) {
	t.Parallel()
	key, err := hex.DecodeString(quicknetKey)
	if err != nil {
		t.Fatal(err)
	}
	seed, err := hex.DecodeString("f477d5c89f21a17c863a7f937c6a6d15859414d2be09cd448d4279af331c5d3e")
	if err != nil {
		t.Fatal(err)
	}
	period, genesis := TimeOf(2)-TimeOf(1), TimeOf(1)
	b := binary.BigEndian.AppendUint32(nil, uint32(period))
	b = binary.BigEndian.AppendUint64(b, uint64(genesis))
	b = append(append(append(b, key...), seed...), "quicknet"...)
	if got := sha256.Sum256(b); got != audit.Quicknet {
		t.Errorf("period %d, genesis %d, key and seed make %x, not %x", period, genesis, got, audit.Quicknet)
	}
}

func TestTimes(t *testing.T) {
	t.Parallel()
	for round, want := range map[uint64]int64{1: 1692803367, 2: 1692803370, 8193: 1692827943, 10_000_000: 1722803364,
		31_799_517: 1788201915} {
		if got := TimeOf(round); got != want {
			t.Errorf("round %d comes out at %d, not %d", round, got, want)
		}
		ms := want * 1000
		if before, at := audit.BeaconRound(ms-1), audit.BeaconRound(ms); before != round || at != round+1 {
			t.Errorf("round %d: after the millisecond before comes %d, after its own %d", round, before, at)
		}
	}
	if got := audit.BeaconRound(0); got != 1 {
		t.Errorf("the first round is %d", got)
	}
}

// fieldOrder is p, the order of the field of G1's coordinates.
var fieldOrder, _ = new(big.Int).SetString("1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab", 16)

// TestRefused has everything a signature could be that is not the one.
func TestRefused(t *testing.T) {
	t.Parallel()
	r := beacontest.Newest()
	sig := func(change func(*[Size]byte)) [Size]byte {
		s := r.Signature
		change(&s)
		return s
	}
	x := new(big.Int).SetBytes(append([]byte{r.Signature[0] & 0x1f}, r.Signature[1:]...))
	cases := map[string]struct {
		round uint64
		sig   [Size]byte
	}{
		"round 0":           {0, r.Signature},
		"the round before":  {r.Round - 1, r.Signature},
		"the round after":   {r.Round + 1, r.Signature},
		"beyond 2^53":       {audit.MaxInteger + 1, r.Signature},
		"the last u64":      {math.MaxUint64, r.Signature},
		"negated":           {r.Round, sig(func(s *[Size]byte) { s[0] ^= 0x20 })},
		"not compressed":    {r.Round, sig(func(s *[Size]byte) { s[0] &^= 0x80 })},
		"infinity, with x":  {r.Round, sig(func(s *[Size]byte) { s[0] |= 0x40 })},
		"infinity":          {r.Round, [Size]byte{0xc0}},
		"infinity, negated": {r.Round, [Size]byte{0xe0}},
		"zero":              {r.Round, [Size]byte{}},
		// (0, 2) and (0, -2) are on the curve, of order 3, and not in G1.
		"of order 3":          {r.Round, [Size]byte{0x80}},
		"of order 3, negated": {r.Round, [Size]byte{0xa0}},
		"x is p":              {r.Round, compressed(fieldOrder, 0x80)},
		"x is p, negated":     {r.Round, compressed(fieldOrder, 0xa0)},
		"x not below p":       {r.Round, compressed(new(big.Int).Add(fieldOrder, big.NewInt(3)), 0x80)},
		"another point":       {r.Round, beacontest.Rounds()[0].Signature},
		"the generator":       {r.Round, [Size]byte(bls12381.G1Generator().BytesCompressed())},
	}
	if most := new(big.Int).Lsh(big.NewInt(1), 381); new(big.Int).Add(x, fieldOrder).Cmp(most) < 0 {
		cases["x + p"] = struct {
			round uint64
			sig   [Size]byte
		}{r.Round, compressed(new(big.Int).Add(x, fieldOrder), r.Signature[0]&0xe0)}
	} else {
		t.Log("no second spelling of this x fits into 381 bits")
	}
	for name, c := range cases {
		if err := Verify(c.round, c.sig); !errors.Is(err, ErrSignature) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for bit := range 8 * Size {
		s := sig(func(s *[Size]byte) { s[bit/8] ^= 1 << (bit % 8) })
		if Verify(r.Round, s) == nil {
			t.Errorf("bit %d may be changed", bit)
		}
	}
}

func compressed(x *big.Int, flags byte) (s [Size]byte) {
	x.FillBytes(s[:])
	s[0] |= flags
	return s
}

// TestSubgroup adds the point (0, 2), of order 3, to the signature. The equation of pairings holds for the sum as well;
// only the check of the subgroup refuses it. Without that the house could choose one of several values.
func TestSubgroup(t *testing.T) {
	t.Parallel()
	r := beacontest.Newest()
	x := new(big.Int).SetBytes(append([]byte{r.Signature[0] & 0x1f}, r.Signature[1:]...))
	square := new(big.Int).Exp(x, big.NewInt(3), fieldOrder)
	y := new(big.Int).ModSqrt(square.Add(square, big.NewInt(4)), fieldOrder)
	if larger(y) != (r.Signature[0]&0x20 != 0) {
		y.Sub(fieldOrder, y)
	}
	for _, small := range []*big.Int{big.NewInt(2), new(big.Int).Sub(fieldOrder, big.NewInt(2))} {
		// The chord through (x, y) and (0, small).
		slope := new(big.Int).Mul(new(big.Int).Sub(y, small), new(big.Int).ModInverse(x, fieldOrder))
		sumX := new(big.Int).Mul(slope, slope)
		sumX.Sub(sumX, x).Mod(sumX, fieldOrder)
		sumY := new(big.Int).Sub(x, sumX)
		sumY.Mul(sumY, slope).Sub(sumY, y).Mod(sumY, fieldOrder)
		flags := byte(0x80)
		if larger(sumY) {
			flags = 0xa0
		}
		left, right := new(big.Int).Exp(sumY, big.NewInt(2), fieldOrder),
			new(big.Int).Exp(sumX, big.NewInt(3), fieldOrder)
		if right.Add(right, big.NewInt(4)).Mod(right, fieldOrder); left.Cmp(right) != 0 {
			t.Fatal("the sum is not on the curve")
		}
		if err := Verify(r.Round, compressed(sumX, flags)); !errors.Is(err, ErrSignature) {
			t.Errorf("the signature and a point of order 3: %v", err)
		}
	}
}

// larger reports whether y is the larger one of y and -y, which the encoding says.
func larger(y *big.Int) bool {
	return new(big.Int).Lsh(y, 1).Cmp(fieldOrder) > 0
}

// TestAnotherKey: what another key signs of the same round is refused.
func TestAnotherKey(t *testing.T) {
	t.Parallel()
	key, err := bls.KeyGen[bls.KeyG2SigG1](make([]byte, 32), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	message := sha256.Sum256(binary.BigEndian.AppendUint64(nil, 7))
	sig := bls.Sign(key, message[:])
	if !bls.Verify(key.PublicKey(), message[:], sig) {
		t.Fatal("the other key's signature does not hold under it")
	}
	if err := Verify(7, [Size]byte(sig)); !errors.Is(err, ErrSignature) {
		t.Errorf("another key's signature: %v", err)
	}
}

// FuzzVerify looks for a second signature of a published round, and for bytes that make it panic.
func FuzzVerify(f *testing.F) {
	rounds := beacontest.Rounds()
	known := make(map[uint64][Size]byte)
	for _, r := range rounds {
		known[r.Round] = r.Signature
		f.Add(r.Round, r.Signature[:])
	}
	f.Add(uint64(1), append([]byte{0xc0}, make([]byte, 47)...))
	f.Fuzz(func(t *testing.T, round uint64, sig []byte) {
		if len(sig) != Size {
			return
		}
		if err := Verify(round, [Size]byte(sig)); err == nil && known[round] != [Size]byte(sig) {
			t.Errorf("%x is a signature of round %d", sig, round)
		}
	})
}
