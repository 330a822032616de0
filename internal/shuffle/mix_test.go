package shuffle

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"testing"
)

// seedOf returns a seed for tests.
func seedOf(what string) [32]byte { return sha256.Sum256([]byte(what)) }

// isPermutation tells whether p holds each of 0..len(p)−1 once.
func isPermutation(p []uint32) bool {
	for i, v := range slices.Sorted(slices.Values(p)) {
		if int(v) != i {
			return false
		}
	}
	return true
}

func TestMixIsAPermutation(t *testing.T) {
	t.Parallel()
	sizes := []int{257, 416, 832, 833, 1000, 4095, 4096}
	for m := 1; m <= 200; m++ {
		sizes = append(sizes, m)
	}
	for _, m := range sizes {
		seed := seedOf(fmt.Sprint("mix of ", m))
		p, err := Mix(seed, m)
		must(t, err)
		if len(p) != m || !isPermutation(p) {
			t.Errorf("Mix(%x, %d) = %d is no permutation", seed, m, p)
		}
		if !slices.Equal(p, refMix(seed, m)) {
			t.Errorf("Mix(%x, %d) = %d, want %d", seed, m, p, refMix(seed, m))
		}
		if again, _ := Mix(seed, m); !slices.Equal(p, again) {
			t.Errorf("Mix(%x, %d) gives %d, then %d", seed, m, p, again)
		}
		seed[31] ^= 1
		if other, _ := Mix(seed, m); m > 20 && slices.Equal(p, other) {
			t.Errorf("two seeds mix %d positions alike", m)
		}
	}
}

func TestMixRefusesOtherSizes(t *testing.T) {
	t.Parallel()
	for _, m := range []int{-1, 0, 4097, 1 << 20} {
		if p, err := Mix([32]byte{}, m); err == nil || p != nil {
			t.Errorf("a mix of %d positions is accepted", m)
		}
	}
}

// TestKeystreamNeverRunsDry reads more than one stretch, in lanes that straddle the end of a stretch.
func TestKeystreamNeverRunsDry(t *testing.T) {
	t.Parallel()
	for _, ranges := range [][]uint32{
		slices.Repeat([]uint32{6}, 4096),
		slices.Repeat([]uint32{6, 1 << 14, 100_000, 1}, 1024),
		append([]uint32{6}, slices.Repeat([]uint32{858_993_460}, 4095)...),
	} {
		seed := seedOf(fmt.Sprint(ranges[:4]))
		ones := slices.Repeat([]uint32{1}, len(ranges))
		got, err := Shift(seed, ranges, ones)
		if err != nil || !slices.Equal(got, refShift(seed, ranges, ones)) {
			t.Errorf("ranges %d …: %v, or not what the keystream says", ranges[:4], err)
		}
	}
}

// TestMixGolden is frozen with the algorithm. The keystream is AES-256-CTR, so
// `openssl enc -aes-256-ctr -K <seed> -iv 0 -in /dev/zero` prints its bytes.
func TestMixGolden(t *testing.T) {
	t.Parallel()
	const zero = "dc95c078a2408989ad48a21492842087530f8afbc74536b9a963b4f1c4cb738b"
	if got := hex.EncodeToString(refKeystream([32]byte{}, 2)); got != zero {
		t.Errorf("the reference's keystream of the zero seed begins with %s", got)
	}
	// By hand, x mod k for k = 10, 9 … 2, none of the lanes beyond its limit:
	// dc → 0, 95 → 5, c0 → 0, 78 → 1, a2 → 0, 40 → 4, 89 → 1, 89 → 2, ad → 1.
	want := []uint32{0, 6, 2, 4, 3, 9, 7, 5, 1, 8}
	if p, err := Mix([32]byte{}, 10); err != nil || !slices.Equal(p, want) {
		t.Errorf("Mix(0, 10) = %d, %v; want %d", p, err, want)
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	for m := 1; m <= 60; m++ {
		p, err := Mix(seedOf("cut"), m)
		must(t, err)
		before := slices.Clone(p)
		for c := range m {
			got, err := Cut(p, c)
			if err != nil || !isPermutation(got) || !slices.Equal(got, refCut(p, c)) {
				t.Fatalf("Cut(%d, %d) = %d, %v", p, c, got, err)
			}
			if back, err := Cut(got, (m-c)%m); err != nil || !slices.Equal(back, p) {
				t.Fatalf("Cut(%d, %d) cannot be undone: %d, %v", p, c, back, err)
			}
			clear(got)
			if !slices.Equal(p, before) {
				t.Fatalf("Cut(%d, %d) shares memory with P", before, c)
			}
		}
		for _, c := range []int{-1, m, m + 1, 1 << 20} {
			if got, err := Cut(p, c); err == nil || got != nil {
				t.Errorf("a cut of %d positions at %d is accepted", m, c)
			}
		}
	}
	if _, err := Cut(nil, 0); err == nil {
		t.Error("a cut of nothing is accepted")
	}
}

// TestShiftIsABijection: under one seed, the k values of a range move to the k
// values, each to another. So a uniform value stays uniform, whatever the seed.
func TestShiftIsABijection(t *testing.T) {
	t.Parallel()
	ks := []uint32{1, 2, 3, 6, 36, 37, 52, 63, 64, 65, 100, 1000, 16384, 16385}
	for _, k := range ks {
		for s := range 5 {
			seed, hit := seedOf(fmt.Sprint(k, s)), make([]bool, k+1)
			for v := uint32(1); v <= k; v++ {
				got, err := Shift(seed, []uint32{k}, []uint32{v})
				if err != nil || len(got) != 1 || got[0] < 1 || got[0] > k || hit[got[0]] {
					t.Fatalf("k = %d: %d moves to %d (%v), not alone", k, v, got, err)
				}
				hit[got[0]] = true
			}
		}
	}
	for _, k := range []uint32{1<<30 - 1, 1 << 30} {
		seed := seedOf("wide")
		drawn := refShift(seed, []uint32{6, k}, []uint32{6, 1})[1]
		for _, v := range []uint32{1, 2, k - 1, k, 1 + (k - drawn), 1 + (k-drawn+1)%k} { // the last become k and 1
			got, err := Shift(seed, []uint32{6, k}, []uint32{6, v})
			if want := refShift(seed, []uint32{6, k}, []uint32{6, v}); err != nil || !slices.Equal(got, want) {
				t.Errorf("k = %d: %d moves to %d, %v; want %d", k, v, got, err, want)
			}
		}
	}
}

func TestShiftRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ ranges, values []uint32 }{
		{nil, nil}, {[]uint32{}, []uint32{}}, {[]uint32{6}, nil}, {nil, []uint32{1}},
		{[]uint32{6}, []uint32{1, 2}}, {[]uint32{6, 6}, []uint32{1}},
		{[]uint32{6}, []uint32{0}}, {[]uint32{6}, []uint32{7}}, {[]uint32{6, 6}, []uint32{6, 7}},
		{[]uint32{0}, []uint32{0}}, {[]uint32{1<<30 + 1}, []uint32{1}},
		{slices.Repeat([]uint32{6}, 4097), slices.Repeat([]uint32{1}, 4097)},
	} {
		if got, err := Shift([32]byte{}, c.ranges, c.values); err == nil || got != nil {
			t.Errorf("Shift over %.3d … of %.3d … gave %.3d", c.ranges, c.values, got)
		}
	}
	values := []uint32{3, 4}
	if _, err := Shift([32]byte{}, []uint32{6, 6}, values); err != nil || !slices.Equal(values, []uint32{3, 4}) {
		t.Errorf("Shift changed its input to %d (%v)", values, err)
	}
}
