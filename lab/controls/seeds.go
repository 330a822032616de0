package controls

import (
	"crypto/sha256"
	"encoding/binary"

	"shuffled/internal/entropy"
	"shuffled/internal/shuffle"
	"shuffled/lab"
)

// wholeDeck is the recipe of the true shuffle.
var wholeDeck = shuffle.Recipe{Cards: cards, Take: cards}

// spoilt is the true shuffle on tapes that are not the generator's: for each tape it reads some bytes and expands them.
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

// seeded expands a seed of some bytes to a tape, by SHA-256 in counter mode. The expansion is so good that
// no test of single decks detects the seed. But it gives at most 2^(8·bytes) orders of 52! ≈ 2^225.6, and
// by the birthday bound whole decks come twice among about the square root of that number.
//
// 16 bits: a process number, or the seconds of a day. 32 bits: the room of 1999 seeded with the milliseconds since
// midnight, and five known cards gave the rest of the deck before the hand was over.
func seeded(bytes int) maker {
	return func(src *entropy.Source) lab.Maker {
		block := make([]byte, 4+bytes)
		return spoilt(src, bytes, func(tape, seed []byte) {
			copy(block[4:], seed)
			stretch(tape, block)
		})
	}
}

// stretch fills a tape from the seed, which is in block after the four bytes of the counter.
func stretch(tape, block []byte) {
	for i := uint32(0); len(tape) > 0; i++ {
		binary.BigEndian.PutUint32(block, i)
		sum := sha256.Sum256(block)
		tape = tape[copy(tape, sum[:]):]
	}
}

// clockSecond is srand(time(NULL)) in the shuffle: all decks of one second are the same, here seven, as on
// the server of busy tables. The clock begins at a random second.
func clockSecond(src *entropy.Source) lab.Maker {
	const perSecond = 7
	now, made := uint64(0), -1
	return clocked(src, func(r *raw) uint64 {
		if made++; made == 0 {
			now = uint64(r.word())
		}
		return now + uint64(made/perSecond)
	})
}

// clockMilli is the room of 1999: milliseconds since midnight, of which there are
// 86,400,000, at a time of the day that the players choose.
func clockMilli(src *entropy.Source) lab.Maker {
	return clocked(src, func(r *raw) uint64 { return uint64(r.word()) % 86_400_000 })
}

// clocked expands the time of a clock to tapes, by SHA-256 like seeded.
func clocked(src *entropy.Source, clock func(r *raw) uint64) lab.Maker {
	r, tape, block := &raw{src: src}, make([]byte, wholeDeck.TapeLen()), make([]byte, 12)
	return next(func() ([]uint32, error) {
		binary.BigEndian.PutUint64(block[4:], clock(r))
		if r.err != nil {
			return nil, r.err
		}
		stretch(tape, block)
		out, err := wholeDeck.Run(tape)
		return out.Values, err
	})
}

// clibrary is the loop of the textbooks, swap(i, i + rand()%(n−i)), on the rand() of C libraries: of 15
// bits from a state of 32, or of 31 bits from a state of 31. Each deck has a seed of as many bits, which
// comes from the entropy source.
func clibrary(bits int) maker {
	return func(src *entropy.Source) lab.Maker {
		r, deck := &raw{src: src}, make([]uint32, cards)
		return next(func() ([]uint32, error) {
			state := r.word() >> (32 - bits)
			rand := func() uint32 {
				if bits == 15 {
					state = state*214013 + 2531011
					return state >> 16 & 0x7fff
				}
				state = (state*1103515245 + 12345) & 0x7fffffff
				return state
			}
			newOrder(deck)
			for i := range deck {
				swap(deck, i, i+int(rand()%uint32(cards-i)))
			}
			return deck, r.err
		})
	}
}

// stuck is one of the 64 lines of a bus at 0: bit 3 of every eighth byte. The continuous health tests of SP
// 800-90B look for a value that comes far too often and do not find this.
func stuck(src *entropy.Source) lab.Maker { return spoilt(src, wholeDeck.TapeLen(), stick) }

func stick(tape, read []byte) {
	copy(tape, read)
	for i := 0; i < len(tape); i += 8 {
		tape[i] &^= 1 << 3
	}
}
