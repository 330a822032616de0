package exact

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"fmt"

	"shuffled/internal/shuffle"
)

// sequence is a fixed sequence of numbers: the keystream of AES-CTR under a key that names its use. It
// chooses cases to try, the same in every run. No claim depends on its uniformity.
type sequence struct {
	stream cipher.Stream
	buf    [4096]byte
	left   []byte
}

func newSequence(cards, part int) *sequence {
	var key [16]byte
	binary.BigEndian.PutUint32(key[:], uint32(cards))
	binary.BigEndian.PutUint32(key[4:], uint32(part))
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic(err) // only for a key of another length
	}
	return &sequence{stream: cipher.NewCTR(block, make([]byte, aes.BlockSize))}
}

// fill sets b to the next numbers.
func (s *sequence) fill(b []byte) {
	for len(b) > 0 {
		if len(s.left) == 0 {
			clear(s.buf[:])
			s.stream.XORKeyStream(s.buf[:], s.buf[:])
			s.left = s.buf[:]
		}
		n := copy(b, s.left)
		b, s.left = b[n:], s.left[n:]
	}
}

// below returns a number below n.
func (s *sequence) below(n uint64) uint64 {
	var b [4]byte
	s.fill(b[:])
	return uint64(binary.BigEndian.Uint32(b[:])) % n
}

// random tries a part of the random orders: of all cards or of some, with or without a drawn end_at.
func (p *deckProver) random(j *deckJob) error {
	n, s := j.n, newSequence(j.n, j.at)
	rejects := make([]int, n+1)
	for turn := range j.shuffles {
		r := shuffle.Recipe{Cards: n, Take: n}
		if s.below(2) == 1 {
			r.Take = 1 + int(s.below(uint64(n)))
		}
		if r.Take > 1 && s.below(2) == 1 {
			r.EndLo = 1 + int(s.below(uint64(r.Take-1)))
			r.EndHi = r.EndLo + 1 + int(s.below(uint64(r.Take-r.EndLo)))
		}
		tape, want, endAt, rejected := p.drawn(r, s, rejects)
		if err := p.agrees(r, tape, want, endAt); err != nil {
			return fmt.Errorf("%d of %d cards, random draws %d of part %d, tape %x: %w", r.Take, n, turn, j.at, tape, err)
		}
		j.rejected += uint64(rejected)
	}
	return nil
}

// drawn chooses draws for r. It returns a tape that gives them, with lanes to reject before them and any
// bytes after them, and their outcome.
func (p *deckProver) drawn(r shuffle.Recipe, s *sequence, rejects []int) (tape []byte, want []uint32, endAt,
	rejected int) {
	_, _, want = p.fresh(r.Cards)
	tape = p.tape[:r.TapeLen()]
	s.fill(tape)
	draws, k := r.Take, func(i int) uint64 { return uint64(r.Cards - i) }
	if r.EndHi != 0 {
		draws++
		k = func(i int) uint64 {
			if i == r.Take {
				return uint64(r.EndHi - r.EndLo + 1)
			}
			return uint64(r.Cards - i)
		}
	}
	rejected = spreadRejects(r, s, rejects[:draws], k)
	at := 0
	for i := range draws {
		w := shuffle.LaneWidth(uint32(k(i)))
		lanes, limit := limitOf(uint32(k(i)))
		for range rejects[i] {
			putLane(tape[at:], w, limit+s.below(lanes-limit))
			at += w
		}
		v := s.below(k(i))
		putLane(tape[at:], w, v+k(i)*s.below(limit/k(i)))
		at += w
		if i == r.Take {
			endAt = r.EndLo + int(v)
			break
		}
		to := i + int(v)
		want[i], want[to] = want[to], want[i]
	}
	return tape, want[:r.Take], endAt, rejected
}

// spreadRejects says how many lanes are rejected before each draw. From a random draw on, and around to it again, it is
// one, as long as the tape has room. More room is used for a second, third and fourth lane before some draws.
func spreadRejects(r shuffle.Recipe, s *sequence, rejects []int, k func(int) uint64) (rejected int) {
	clear(rejects)
	need, _ := r.Need()
	room, from := r.TapeLen()-need, int(s.below(uint64(len(rejects))))
	for turn := range 4 * len(rejects) {
		i := (from + turn) % len(rejects)
		w := shuffle.LaneWidth(uint32(k(i)))
		lanes, limit := limitOf(uint32(k(i)))
		if lanes == limit || w > room || turn >= len(rejects) && s.below(2) == 0 {
			continue
		}
		rejects[i]++
		rejected++
		room -= w
	}
	return rejected
}
