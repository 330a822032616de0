package controls

import (
	"crypto/sha256"
	"encoding/binary"

	"shuffled/internal/entropy"
	"shuffled/internal/shuffle"
	"shuffled/lab"
)

// wholeDeck is what the true shuffle is asked for.
var wholeDeck = shuffle.Recipe{Cards: cards, Take: cards}

// spoilt is the true shuffle on tapes that are not what the generator gave: for
// each it reads some bytes and makes a tape of them.
func spoilt(src *entropy.Source, bytes int, spoil func(tape, read []byte)) lab.Maker {
	r, read, tape := &raw{src: src}, make([]byte, bytes), make([]byte, wholeDeck.TapeLen())
	return next(func() ([]uint32, error) {
		for i := range read {
			read[i] = r.byte()
		}
		if r.err != nil {
			return nil, r.err
		}
		spoil(tape, read)
		out, err := wholeDeck.Run(tape)
		return out.Values, err
	})
}

// seeded stretches a seed of some bytes to a tape, by SHA-256 in counter mode. The
// stretching is as good as can be, and no test of single decks sees the seed. But
// it gives at most 2^(8·bytes) orders of 52! ≈ 2^225.6, and by the birthday bound
// whole decks come twice among the square root of that.
//
// 16 bits: a process number, or the seconds of a day. 32 bits: the room of 1999
// seeded with the milliseconds since midnight, and five known cards gave the rest
// of the deck before the hand was over.
func seeded(bytes int) maker {
	return func(src *entropy.Source) lab.Maker {
		block := make([]byte, 4+bytes)
		return spoilt(src, bytes, func(tape, seed []byte) {
			copy(block[4:], seed)
			for i := uint32(0); len(tape) > 0; i++ {
				binary.BigEndian.PutUint32(block, i)
				sum := sha256.Sum256(block)
				tape = tape[copy(tape, sum[:]):]
			}
		})
	}
}

// stuck is one of the 64 lines of a bus at 0: bit 3 of every eighth byte. The
// continuous health tests of SP 800-90B look for a value that comes far too often
// and do not see it.
func stuck(src *entropy.Source) lab.Maker { return spoilt(src, wholeDeck.TapeLen(), stick) }

func stick(tape, read []byte) {
	copy(tape, read)
	for i := 0; i < len(tape); i += 8 {
		tape[i] &^= 1 << 3
	}
}
