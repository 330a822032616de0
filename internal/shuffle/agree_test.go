package shuffle

import (
	crand "crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
)

// randomRecipe picks a valid recipe. Small ones come most often: they are quick and as telling.
func randomRecipe(rng *rand.Rand) Recipe {
	if rng.IntN(3) == 0 {
		ranges := make([]uint32, 1+rng.IntN(12))
		for i := range ranges {
			ranges[i] = randomRange(rng)
		}
		return Recipe{Ranges: ranges}
	}
	r := Recipe{Cards: 2 + rng.IntN(7)}
	switch d := rng.IntN(2000); {
	case d == 0:
		r.Cards = 2 + rng.IntN(MaxCards-1)
	case d < 20:
		r.Cards = 2 + rng.IntN(600)
	case d < 500:
		r.Cards = 2 + rng.IntN(80)
	}
	r.Take = r.Cards
	if rng.IntN(3) == 0 {
		r.Take = 1 + rng.IntN(r.Cards)
	}
	if r.Take > 1 && rng.IntN(4) == 0 {
		r.EndLo = 1 + rng.IntN(r.Take-1)
		r.EndHi = r.EndLo + 1 + rng.IntN(r.Take-r.EndLo)
	}
	return r
}

// randomRange picks a k of 1..MaxRange: any size, or the neighbour of a power of two, or one that rejects most.
func randomRange(rng *rand.Rand) uint32 {
	switch rng.IntN(4) {
	case 0:
		return []uint32{1, 2, 6, 37, 52, 64, 65, 13108, 1 << 14, 1<<14 + 1, 858_993_460, MaxRange}[rng.IntN(12)]
	case 1:
		return min(MaxRange, max(1, uint32(1)<<rng.IntN(31)+uint32(rng.IntN(3))-1))
	default:
		return 1 + rng.Uint32N(1<<(1+rng.IntN(30)))
	}
}

// randomTape is uniform except for a share of ones/8 of 0xff bytes, which most
// draws reject: uniform tapes reject seldom and run out never.
func randomTape(rng *rand.Rand, length, ones int) []byte {
	tape := make([]byte, 0, length+7)
	for len(tape) < length {
		tape = binary.LittleEndian.AppendUint64(tape, rng.Uint64())
	}
	tape = tape[:length]
	for i := 0; ones > 0 && i < length; {
		for dice := rng.Uint64(); dice != 0 && i < length; dice >>= 3 {
			if int(dice%8) < ones {
				tape[i] = 0xff
			}
			i++
		}
	}
	return tape
}

// checkReference compares s with the reference on random tapes of random recipes, and counts how many ran out.
func checkReference(s shuffler, rng *rand.Rand, tapes int) (exhausted int, err error) {
	for range tapes {
		r := randomRecipe(rng)
		tape := randomTape(rng, refTapeLen(refDraws(r)), max(0, rng.IntN(16)-8))
		want, wantErr := reference{}.run(r, tape)
		if err := expect(s, r, tape, want, wantErr); err != nil {
			return exhausted, err
		}
		if wantErr != nil {
			exhausted++
		}
	}
	return exhausted, nil
}

// TestReferenceAgrees compares with the reference on two million tapes, others
// on every run; a failure prints recipe and tape.
func TestReferenceAgrees(t *testing.T) {
	tapes, workers := 2_000_000, runtime.GOMAXPROCS(0)
	if testing.Short() || raceEnabled {
		tapes = 50_000
	}
	for worker := range workers {
		t.Run(fmt.Sprintf("worker-%d", worker), func(t *testing.T) {
			t.Parallel()
			var seed [16]byte
			crand.Read(seed[:])
			rng := rand.New(rand.NewPCG(binary.BigEndian.Uint64(seed[:]), binary.BigEndian.Uint64(seed[8:])))
			exhausted, err := checkReference(ours{}, rng, tapes/workers)
			must(t, err)
			if exhausted < tapes/workers/1000 {
				t.Errorf("only %d of %d tapes ran out: nothing was tried there", exhausted, tapes/workers)
			}
		})
	}
}

// bytesToRanges reads big-endian 32-bit numbers; nil for none.
func bytesToRanges(b []byte) (ranges []uint32) {
	for ; len(b) >= 4; b = b[4:] {
		ranges = append(ranges, binary.BigEndian.Uint32(b))
	}
	return ranges
}

// FuzzRun compares with the reference on recipes that may be invalid and tapes
// that may be of the wrong length; with fit, the tape is repeated to fit.
func FuzzRun(f *testing.F) {
	f.Add(int16(52), int16(52), int16(0), int16(0), []byte{}, []byte{0x00, 0xd0, 0xff}, true)
	f.Add(int16(416), int16(416), int16(300), int16(400), []byte{}, []byte{0xff, 0xfe, 0x12}, true)
	f.Add(int16(66), int16(2), int16(1), int16(2), []byte{}, []byte{0xff}, true)
	f.Add(int16(0), int16(0), int16(0), int16(0), []byte{0, 0, 0, 6, 0, 0, 0x33, 0x34, 0x33, 0x33, 0x33, 0x34},
		[]byte{0xfb, 0x01}, true)
	f.Add(int16(3), int16(3), int16(0), int16(0), []byte{}, make([]byte, 54), false)
	f.Fuzz(func(t *testing.T, cards, take, lo, hi int16, ranges, tape []byte, fit bool) {
		r := Recipe{Cards: int(cards), Take: int(take), EndLo: int(lo), EndHi: int(hi), Ranges: bytesToRanges(ranges)}
		if valid := r.Validate() == nil; valid != refValid(r) {
			t.Fatalf("%+v valid: %v", r, valid)
		} else if fit && valid && len(tape) > 0 {
			length := refTapeLen(refDraws(r))
			tape = slices.Repeat(tape, length/len(tape)+1)[:length]
		}
		must(t, agree(ours{}, r, tape))
		must(t, checkExplain(r, tape))
	})
}

// FuzzMix compares P, its cut and the shift of drawn values with the reference.
func FuzzMix(f *testing.F) {
	f.Add([]byte("seed"), uint16(52), uint16(17), []byte{0, 0, 0, 6, 0, 0, 0x40, 0x01}, uint32(5))
	f.Add([]byte{}, uint16(1), uint16(0), []byte{}, uint32(0))
	f.Add([]byte{0xff}, uint16(4096), uint16(4095), []byte{0x40, 0, 0, 0}, uint32(1<<30-1))
	f.Fuzz(func(t *testing.T, seedBytes []byte, m, c uint16, rangeBytes []byte, v uint32) {
		var seed [32]byte
		copy(seed[:], seedBytes)
		p, err := Mix(seed, int(m))
		if valid := m >= 1 && m <= 4096; valid != (err == nil) {
			t.Fatalf("a mix of %d: %v", m, err)
		} else if valid {
			if !slices.Equal(p, refMix(seed, int(m))) {
				t.Fatalf("Mix(%x, %d) = %d, want %d", seed, m, p, refMix(seed, int(m)))
			}
			cut, err := Cut(p, int(c))
			if (c < m) != (err == nil) {
				t.Fatalf("a cut of %d at %d: %v", m, c, err)
			} else if err == nil && !slices.Equal(cut, refCut(p, int(c))) {
				t.Fatalf("Cut(%d, %d) = %d", p, c, cut)
			}
		}
		ranges := bytesToRanges(rangeBytes)
		if !refValid(Recipe{Ranges: ranges}) || ranges == nil {
			if _, err := Shift(seed, ranges, nil); err == nil {
				t.Fatalf("a shift over ranges %d", ranges)
			}
			return
		}
		values := make([]uint32, len(ranges))
		for i, k := range ranges {
			values[i] = 1 + v%k
		}
		got, err := Shift(seed, ranges, values)
		if want := refShift(seed, ranges, values); err != nil || !slices.Equal(got, want) {
			t.Fatalf("Shift(%x, %d, %d) = %d, %v, want %d", seed, ranges, values, got, err, want)
		}
	})
}

// TestReferenceKnowsItsErrors keeps the comparison honest: the reference tells the three errors apart by itself.
func TestReferenceKnowsItsErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		r    Recipe
		tape []byte
		want error
	}{
		{deck(1), nil, errInvalid},
		{deck(2), make([]byte, 52), ErrTapeLength},
		{deck(2), make([]byte, 54), nil},
		{deck(3), slices.Repeat([]byte{0xff}, 55), ErrTapeExhausted},
	} {
		if _, err := (reference{}).run(c.r, c.tape); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v, want %v", c.r, err, c.want)
		}
	}
}
