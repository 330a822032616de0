package shuffle

import (
	"bytes"
	"crypto/aes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
)

// This file does docs/SPEC.md sections 2 to 4 once more, slowly, and shares nothing with the package but the names of
// its types: the draws are listed first, then all are made, then the cards move. The package is held against it, and
// testdata/shuffle.json is written by it.

// reference is the naive implementation as a shuffler.
type reference struct{}

func (reference) draw(k uint32, buf []byte) (uint32, []byte, bool) {
	v, rest, ok := refDraw(buf, uint64(k))
	return uint32(v), rest, ok
}

func (r reference) tally(counts []uint32, k uint32, buf []byte) { tallyByDraw(r, counts, k, buf) }

func (reference) run(r Recipe, tape []byte) (Outcome, error) {
	if !refValid(r) {
		return Outcome{}, errInvalid
	}
	ks := refDraws(r)
	if len(tape) != refTapeLen(ks) {
		return Outcome{}, ErrTapeLength
	}
	var drawn []uint64
	for _, k := range ks {
		v, rest, ok := refDraw(tape, k)
		if !ok {
			return Outcome{}, ErrTapeExhausted
		}
		drawn, tape = append(drawn, v), rest
	}
	return refOutcome(r, drawn), nil
}

// errInvalid stands for every complaint about a recipe.
var errInvalid = errors.New("invalid recipe")

// refWidth is the table of lane widths.
func refWidth(k uint64) int {
	for _, row := range []struct {
		upTo uint64
		w    int
	}{{1, 0}, {1 << 6, 1}, {1 << 14, 2}, {1 << 30, 4}} {
		if k <= row.upTo {
			return row.w
		}
	}
	panic("a draw above 2^30")
}

// refLimit is ⌊2^(8w)/k⌋·k.
func refLimit(k uint64) uint64 {
	lanes := uint64(1) << (8 * refWidth(k))
	return lanes / k * k
}

// refDraw takes one value of 1..k off the front of tape.
func refDraw(tape []byte, k uint64) (value uint64, rest []byte, ok bool) {
	w, limit := refWidth(k), refLimit(k)
	for len(tape) >= w {
		x := uint64(0)
		for _, b := range tape[:w] {
			x = 256*x + uint64(b)
		}
		tape = tape[w:]
		if x < limit {
			return 1 + (x - x/k*k), tape, true
		}
	}
	return 0, nil, false
}

// refDraws lists the k of every draw the recipe makes, in order.
func refDraws(r Recipe) (ks []uint64) {
	for _, k := range r.Ranges {
		ks = append(ks, uint64(k))
	}
	for i := 0; i < r.Take; i++ {
		ks = append(ks, uint64(r.Cards-i))
	}
	if r.EndLo != 0 || r.EndHi != 0 {
		ks = append(ks, uint64(r.EndHi-r.EndLo)+1)
	}
	return ks
}

// refTapeLen is S + ⌈S/2⌉ + 52·max(1, widest w).
func refTapeLen(ks []uint64) int {
	sum, widest := 0, 1
	for _, k := range ks {
		sum += refWidth(k)
		if refWidth(k) > widest {
			widest = refWidth(k)
		}
	}
	half := sum / 2
	if sum%2 == 1 {
		half++
	}
	return sum + half + 52*widest
}

// refOutcome gives what the drawn values mean.
func refOutcome(r Recipe, drawn []uint64) (out Outcome) {
	if r.Ranges != nil {
		for _, v := range drawn {
			out.Values = append(out.Values, uint32(v))
		}
		return out
	}
	cards := make([]uint32, r.Cards)
	for i := range cards {
		cards[i] = uint32(i)
	}
	for i, v := range drawn[:r.Take] {
		j := i + int(v) - 1
		cards[i], cards[j] = cards[j], cards[i]
	}
	out.Values = cards[:r.Take]
	if len(drawn) > r.Take {
		out.EndAt = r.EndLo + int(drawn[r.Take]) - 1
	}
	return out
}

// refValid tells whether the limits of docs/SPEC.md section 2 admit the recipe.
func refValid(r Recipe) bool {
	if r.Ranges != nil {
		for _, k := range r.Ranges {
			if k == 0 || k > 1<<30 {
				return false
			}
		}
		return len(r.Ranges) != 0 && len(r.Ranges) <= 4096 &&
			r.Cards == 0 && r.Take == 0 && r.EndLo == 0 && r.EndHi == 0
	}
	deck := 2 <= r.Cards && r.Cards <= 4096 && 1 <= r.Take && r.Take <= r.Cards
	noEnd := r.EndLo == 0 && r.EndHi == 0
	end := 1 <= r.EndLo && r.EndLo < r.EndHi && r.EndHi <= r.Take
	return deck && (noEnd || end)
}

// refKeystream is AES-256-CTR under seed with a zero initial counter block:
// the encryptions of 0, 1, 2 … as 16-byte big-endian numbers.
func refKeystream(seed [32]byte, blocks int) (stream []byte) {
	block, err := aes.NewCipher(seed[:])
	if err != nil {
		panic(err)
	}
	for i := range blocks {
		var counter, out [16]byte
		binary.BigEndian.PutUint64(counter[8:], uint64(i))
		block.Encrypt(out[:], counter[:])
		stream = append(stream, out[:]...)
	}
	return stream
}

// refStreamDraws makes the draws from the keystream of seed. A stream that was
// cut too short is made again, twice as long.
func refStreamDraws(seed [32]byte, ks []uint64) []uint64 {
again:
	for blocks := len(ks)/16 + 1; ; blocks *= 2 {
		var drawn []uint64
		stream := refKeystream(seed, blocks)
		for _, k := range ks {
			v, rest, ok := refDraw(stream, k)
			if !ok {
				continue again
			}
			drawn, stream = append(drawn, v), rest
		}
		return drawn
	}
}

// refMix is P.
func refMix(seed [32]byte, m int) []uint32 {
	r := Recipe{Cards: m, Take: m}
	return refOutcome(r, refStreamDraws(seed, refDraws(r))).Values
}

// refCut is P with its places counted from c on.
func refCut(p []uint32, c int) []uint32 {
	out := make([]uint32, len(p))
	for i := range out {
		out[i] = p[(i+c)%len(p)]
	}
	return out
}

// refShift is 1 + (v−1 + u−1) mod k, value by value.
func refShift(seed [32]byte, ranges, values []uint32) (out []uint32) {
	us := refStreamDraws(seed, refDraws(Recipe{Ranges: ranges}))
	for i, k := range ranges {
		moved := uint64(values[i]) - 1 + us[i] - 1
		for moved >= uint64(k) {
			moved -= uint64(k)
		}
		out = append(out, uint32(moved)+1)
	}
	return out
}

// refNumbers follows each number back: the card at place j before swap i is the one
// that the last earlier swap to j put there, which came from the place of that swap.
func refNumbers(draws []uint32) (numbers []uint32) {
	last := make(map[int]int) // by place, the newest swap that put a card there
	for i, v := range draws {
		j := i + int(v) - 1
		place := j
		for swap, ok := last[place]; ok; swap, ok = last[place] {
			place = swap
		}
		numbers = append(numbers, uint32(place)+1)
		last[j] = i
	}
	return numbers
}

// refDeckHash is SHA-256(label ‖ u16 n ‖ u8-prefixed names).
func refDeckHash(cards []string) [32]byte {
	var b bytes.Buffer
	b.WriteString("shuffled/v1/deck")
	b.WriteByte(0)
	binary.Write(&b, binary.BigEndian, uint16(len(cards)))
	for _, c := range cards {
		binary.Write(&b, binary.BigEndian, uint8(len(c)))
		b.WriteString(c)
	}
	return sha256.Sum256(b.Bytes())
}
