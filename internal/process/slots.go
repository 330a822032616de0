package process

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
)

// Slots is a file of some bytes that are replaced as a whole, and are durable after one sync. It has two slots, which
// are written in turn and in place, so that the bytes from before stand whole in the other slot until the sync ends.
//
// A slot is written in blocks, of which a disk writes each whole or not at all. Each has the number of the write and a
// checksum. So a write that was cut off, whose bytes nobody was told to be durable, differs from a damaged file: after
// a cut write the other slot counts, and a damaged file is an error. One goroutine at a time uses a Slots, and one
// process at a time the file.
type Slots struct {
	Sync func(*os.File) error // flushes the bytes of a file; tests replace it

	path   string
	number uint64 // of the newest write, whose slot is number % 2; 0: there is no file
	blocks int    // of a slot
}

const (
	blockSize = 512
	blockHead = 16 // number, length of the bytes, checksum of all other bytes and the block's place
	blockBody = blockSize - blockHead
	minBlocks = 16 // of a slot: no file system keeps a smaller file on less
)

var (
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	errDamaged = errors.New("the file is damaged")
	errCut     = errors.New("the write was cut off")
)

// OpenSlots returns a file and its newest bytes, nil if there is no such file.
func OpenSlots(path string) (*Slots, []byte, error) {
	s := &Slots{Sync: datasync, path: path}
	all, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	s.blocks = len(all) / 2 / blockSize
	if s.blocks < minBlocks || len(all) != 2*s.slotSize() {
		return nil, nil, fmt.Errorf("%w: %d bytes are not two slots", errDamaged, len(all))
	}
	even, b, errEven := s.read(all[:s.slotSize()])
	odd, c, errOdd := s.read(all[s.slotSize():])
	inTurn := even%2 == 0 && odd%2 == 1 && (odd == even+1 || even == odd+1)
	switch cut := errors.Join(errEven, errOdd); {
	case !inTurn, errors.Is(cut, errDamaged), errEven != nil && errOdd != nil:
		return nil, nil, fmt.Errorf("%w: write %d (%v) in one slot, write %d (%v) in the other", errDamaged, even, errEven,
			odd, errOdd)
	case errEven != nil, errOdd == nil && odd > even:
		s.number, b = odd, c
	default:
		s.number = even
	}
	return s, b, nil
}

func (s *Slots) slotSize() int { return s.blocks * blockSize }

// read returns the number of the write that a slot has, and its bytes.
func (s *Slots) read(slot []byte) (number uint64, b []byte, err error) {
	for i := 0; i == 0 || len(b) > i*blockBody; i++ {
		block := slot[i*blockSize:][:blockSize]
		n, length := binary.BigEndian.Uint64(block), int(binary.BigEndian.Uint32(block[8:]))
		blank := i > 0 && bytes.Equal(block, make([]byte, blockSize)) // never written before
		if !blank && (binary.BigEndian.Uint32(block[12:]) != checksum(block, i) || length > s.blocks*blockBody) {
			return n, nil, fmt.Errorf("block %d: %w", i, errDamaged)
		}
		if i == 0 {
			number, b = n, make([]byte, length)
		} else if n != number {
			return number, nil, errCut
		}
		copy(b[min(len(b), i*blockBody):], block[blockHead:])
	}
	return number, b, nil
}

// write puts the bytes of a write into a slot.
func (s *Slots) write(slot []byte, number uint64, b []byte) []byte {
	n := 0
	for ; n == 0 || len(b) > n*blockBody; n++ {
		block := slot[n*blockSize:][:blockSize]
		binary.BigEndian.PutUint64(block, number)
		binary.BigEndian.PutUint32(block[8:], uint32(len(b)))
		copy(block[blockHead:], b[min(len(b), n*blockBody):])
		binary.BigEndian.PutUint32(block[12:], checksum(block, n))
	}
	return slot[:n*blockSize]
}

func checksum(block []byte, place int) uint32 {
	sum := crc32.Checksum(binary.BigEndian.AppendUint32(block[:12:12], uint32(place)), castagnoli)
	return crc32.Update(sum, castagnoli, block[blockHead:])
}

// Write replaces the bytes. They are durable if it returns nil; after an error those from before or these are.
func (s *Slots) Write(b []byte) error {
	if s.number == 0 || len(b) > s.blocks*blockBody {
		return s.replace(b)
	}
	f, err := os.OpenFile(s.path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	number := s.number + 1
	_, err = f.WriteAt(s.write(make([]byte, s.slotSize()), number, b), int64(number%2)*int64(s.slotSize()))
	if err == nil {
		err = s.Sync(f)
	}
	if err = errors.Join(err, f.Close()); err == nil {
		s.number = number
	}
	return err
}

// replace makes the file anew, with slots of twice the length of b.
func (s *Slots) replace(b []byte) error {
	next := Slots{number: s.number + 2 + s.number%2, blocks: max(minBlocks, 2*len(b)/blockBody+1)}
	all := make([]byte, 2*next.slotSize())
	next.write(all, next.number, b)
	next.write(all[next.slotSize():], next.number-1, nil)
	err := ReplaceBytes(s.path, 0o600, all)
	if err == nil {
		s.number, s.blocks = next.number, next.blocks
	}
	return err
}
