package inspect

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"shuffled/internal/audit"
)

// What may stand in one commit of a ledger only, and the decks that commits name.
const (
	kindCommitment = 1 + iota
	kindKeyTag
	kindSlot
	kindDeck
)

// seen finds what stands in two commits. The fold appends a record of 16 bytes
// for each value to a file: the last 8 bytes of the value and, in 8 more, kind
// and index. At the end the records are split by value into parts that fit in
// memory, and sorted. Two records alike are a suspicion, which the entries decide.
type seen struct {
	dir    string
	f      *os.File
	w      *bufio.Writer
	offset int64
	err    error
	decks  map[uint64]bool // written lately
	next   [seenRecord]byte
}

const (
	seenRecord = 16
	seenPart   = 1 << 20 // records that are sorted at once: 16 MiB
	seenParts  = 1 << 12
	seenFile   = "seen"
)

// openSeen opens the file in dir, and keeps offset bytes of it.
func openSeen(dir string, offset int64) (*seen, error) {
	f, err := os.OpenFile(filepath.Join(dir, seenFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the work file: %w", err)
	}
	s := &seen{dir: dir, f: f, w: bufio.NewWriterSize(f, 1<<16), offset: offset, decks: make(map[uint64]bool)}
	info, err := f.Stat()
	if err == nil && info.Size() < offset {
		err = errors.New("it is cut short")
	}
	if err == nil {
		err = f.Truncate(offset)
	}
	if err == nil {
		_, err = f.Seek(offset, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("opening the work file: %w", err)
	}
	return s, nil
}

func (s *seen) add(kind uint64, value [32]byte, index uint64) {
	copy(s.next[:8], value[24:])
	binary.BigEndian.PutUint64(s.next[8:], kind<<56|index)
	if _, err := s.w.Write(s.next[:]); err != nil && s.err == nil {
		s.err = fmt.Errorf("writing the work file: %w", err)
	}
	s.offset += seenRecord
}

// addDeck is add for a deck, which most commits share.
func (s *seen) addDeck(hash [32]byte, index uint64) {
	fp := binary.BigEndian.Uint64(hash[24:])
	if s.decks[fp] {
		return
	}
	if len(s.decks) >= deckMemory {
		clear(s.decks)
	}
	s.decks[fp] = true
	s.add(kindDeck, hash, index)
}

// flush makes all records durable.
func (s *seen) flush() error {
	if s.err == nil {
		s.err = s.w.Flush()
	}
	if s.err == nil {
		s.err = s.f.Sync()
	}
	return s.err
}

func (s *seen) close() error { return s.f.Close() }

// record is one that was read back.
type record struct{ value, place uint64 }

func (r record) kind() uint64  { return r.place >> 56 }
func (r record) index() uint64 { return r.place & (1<<56 - 1) }

// twice calls each for a record with the value and kind of an earlier one, first,
// by ascending index for each value; and returns the decks that commits name, by
// the last 8 bytes of their hashes in ascending order, nil for more than deckMemory.
func (s *seen) twice(each func(first, again record) error) (decks []uint64, err error) {
	if s.err == nil {
		s.err = s.w.Flush()
	}
	if s.err != nil {
		return nil, s.err
	}
	parts, err := s.split()
	if err != nil {
		return nil, err
	}
	many := false
	for i := range parts {
		records, err := s.part(parts, i)
		if err != nil {
			return nil, err
		}
		slices.SortFunc(records, func(a, b record) int {
			return cmp.Or(cmp.Compare(a.value, b.value), cmp.Compare(a.place, b.place))
		})
		var first record
		for j, r := range records {
			if j == 0 || first.value != r.value || first.kind() != r.kind() {
				first = r
				if r.kind() == kindDeck && !many {
					decks = append(decks, r.value)
					many = len(decks) > deckMemory
				}
			} else if r.kind() != kindDeck {
				if err := each(first, r); err != nil {
					return nil, err
				}
			}
		}
	}
	if many {
		return nil, nil
	}
	return append([]uint64{}, decks...), nil
}

// split writes the records to files by value and returns how many there are, as
// a slice of their sizes; one file is the file itself.
func (s *seen) split() ([]int64, error) {
	n := 1
	for int64(n)*seenPart*seenRecord < s.offset && n < seenParts {
		n *= 2
	}
	sizes := make([]int64, n)
	if n == 1 {
		sizes[0] = s.offset
		return sizes, nil
	}
	buffers := make([]bytes.Buffer, n)
	flush := func(i int) error {
		f, err := os.OpenFile(s.partName(i), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			return err
		}
		_, err = buffers[i].WriteTo(f)
		return errors.Join(err, f.Close())
	}
	for i := range n { // of an earlier run
		if err := os.Remove(s.partName(i)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("sorting the work file: %w", err)
		}
	}
	err := s.read(s.f, s.offset, func(r record) error {
		i := int(r.value / (1 << 63 / uint64(n) * 2))
		var b [seenRecord]byte
		binary.BigEndian.PutUint64(b[:8], r.value)
		binary.BigEndian.PutUint64(b[8:], r.place)
		buffers[i].Write(b[:])
		sizes[i] += seenRecord
		if buffers[i].Len() >= 1<<14 {
			return flush(i)
		}
		return nil
	})
	for i := 0; i < n && err == nil; i++ {
		err = flush(i)
	}
	if err != nil {
		return nil, fmt.Errorf("sorting the work file: %w", err)
	}
	return sizes, nil
}

func (s *seen) partName(i int) string { return filepath.Join(s.dir, fmt.Sprintf("%s.%d", seenFile, i)) }

// part reads a part and removes its file.
func (s *seen) part(sizes []int64, i int) ([]record, error) {
	records := make([]record, 0, sizes[i]/seenRecord)
	keep := func(r record) error {
		records = append(records, r)
		return nil
	}
	if len(sizes) == 1 {
		return records, s.read(s.f, sizes[0], keep)
	}
	f, err := os.Open(s.partName(i))
	if err != nil {
		return nil, fmt.Errorf("sorting the work file: %w", err)
	}
	err = s.read(f, sizes[i], keep)
	return records, errors.Join(err, f.Close(), os.Remove(f.Name()))
}

func (s *seen) read(f *os.File, size int64, each func(record) error) error {
	in := bufio.NewReaderSize(io.NewSectionReader(f, 0, size), 1<<16)
	var b [seenRecord]byte
	for range size / seenRecord {
		if _, err := io.ReadFull(in, b[:]); err != nil {
			return fmt.Errorf("reading the work file: %w", err)
		}
		if err := each(record{binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])}); err != nil {
			return err
		}
	}
	return nil
}

// unique names what stands in two commits.
func (f *fold) unique(ctx context.Context) (decks []uint64, err error) {
	var near Chunk // the chunk that was read last
	at := ^uint64(0)
	commit := func(index uint64) (*audit.Commit, error) {
		if n := index / Width; n != at {
			if near, err = f.src.Chunk(ctx, n, int(min(Width, f.size-n*Width))); err != nil {
				return nil, fmt.Errorf("reading entry %d again: %w", index, err)
			}
			at = n
		}
		e, err := audit.ParseEntry(near.Entries[index%Width])
		if err != nil {
			return nil, fmt.Errorf("reading entry %d again: %w", index, err)
		}
		c, ok := e.Body.(*audit.Commit)
		if !ok {
			return nil, fmt.Errorf("reading entry %d again: it is no commit any more", index)
		}
		return c, nil
	}
	return f.seen.twice(func(first, again record) error {
		a, err := commit(first.index())
		if err != nil {
			return err
		}
		b, err := commit(again.index())
		if err != nil {
			return err
		}
		if x, ok := shared(again.kind(), a, b, first.index()); ok {
			f.faults.add(x.at(again.index()).of(again.index()))
		}
		return nil
	})
}

// shared reports whether two commits share what the records of both say.
func shared(kind uint64, a, b *audit.Commit, first uint64) (Fault, bool) {
	switch kind {
	case kindCommitment:
		return fault(CodeCommitment, "", "the commitment stands in entry %d, too", first), a.Commitment == b.Commitment
	case kindKeyTag:
		return fault(CodeKeyTag, "", "the key tag stands in entry %d, too: one idempotency key made two shuffles", first), a.KeyTag == b.KeyTag
	}
	for _, p := range a.Context.Plan {
		for _, q := range b.Context.Plan {
			if p.Source == audit.SourceSlot && q.Source == audit.SourceSlot && p.Slot == q.Slot {
				return fault(CodeSlot, "", "a slot hash stands in entry %d, too", first), true
			}
		}
	}
	return Fault{}, false
}
