package shuffle

import (
	"crypto/aes"
	"crypto/cipher"
	"fmt"
)

// Mix returns P, the public permutation of m committed positions that seed gives: place i shows committed position P[i]
// (docs/SPEC.md section 4.3). It is the Fisher–Yates of a tape, fed by the AES-256-CTR keystream of seed. 1 ≤ m ≤
// MaxCards.
func Mix(seed [32]byte, m int) ([]uint32, error) {
	if m < 1 || m > MaxCards {
		return nil, fmt.Errorf("a mix is over 1 to %d positions, not %d", MaxCards, m)
	}
	return keystream(seed).fisherYates(m, m, nil), nil
}

// Cut returns P after a player's cut at offset c: place i shows P[(i+c) mod m]. 0 ≤ c < len(p).
func Cut(p []uint32, c int) ([]uint32, error) {
	if c < 0 || c >= len(p) {
		return nil, fmt.Errorf("a cut is 0 to %d, not %d", len(p)-1, c)
	}
	return append(append(make([]uint32, 0, len(p)), p[c:]...), p[:c]...), nil
}

// Shift moves drawn values by the seed: value i becomes 1 + (v−1 + u−1) mod k, with u drawn 1..k from the keystream of
// seed, in the order of ranges (docs/SPEC.md section 4.3). Each value must be 1..k of its range.
func Shift(seed [32]byte, ranges, values []uint32) ([]uint32, error) {
	if err := (Recipe{Ranges: ranges}).Validate(); err != nil {
		return nil, err
	}
	if len(values) != len(ranges) {
		return nil, fmt.Errorf("%d values for %d ranges", len(values), len(ranges))
	}
	l, out := keystream(seed), make([]uint32, len(values))
	for i, k := range ranges {
		if values[i] < 1 || values[i] > k {
			return nil, fmt.Errorf("value %d is 1 to %d, not %d", i, k, values[i])
		}
		out[i] = 1 + (values[i]-1+l.draw(k)-1)%k
	}
	return out, nil
}

// keystream reads lanes from the AES-256-CTR keystream of seed with a zero initial counter block. It never runs dry.
func keystream(seed [32]byte) *lanes {
	block, err := aes.NewCipher(seed[:])
	if err != nil {
		panic("shuffle: AES-256 refused a 32-byte key: " + err.Error())
	}
	ctr := cipher.NewCTR(block, make([]byte, aes.BlockSize))
	return &lanes{more: func() []byte {
		stretch := make([]byte, 512)
		ctr.XORKeyStream(stretch, stretch)
		return stretch
	}}
}
