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

// What may stand in one commit of a ledger only.
const (
	kindCommitment = 1 + iota
	kindKeyTag
	kindSlot
)

// seen finds what stands in two commits. The fold appends a record of 16 bytes
// for each value to a file: the last 8 bytes of the value and, in 8 more, kind
// and index. At the end the records are split by value into parts that fit in
// memory, and sorted. Two records alike are a suspicion, which the entries decide.
type seen struct {
	dir  string
	f    *os.File
	w    *bufio.Writer
	size int64
	err  error
	next [seenRecord]byte
}

const (
	seenRecord = 16
	seenPart   = 1 << 20 // records that are sorted at once: 16 MiB
	seenParts  = 1 << 12
	seenFile   = "seen"
)

// openSeen makes a directory for the file, which close removes. It is made where the
// system keeps temporary files: TMPDIR names another place.
func openSeen() (*seen, error) {
	dir, err := os.MkdirTemp("", "shuffled-audit-")
	if err != nil {
		return nil, fmt.Errorf("making a directory for the work file: %w", err)
	}
	f, err := os.Create(filepath.Join(dir, seenFile))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("making the work file: %w", err), os.RemoveAll(dir))
	}
	return &seen{dir: dir, f: f, w: bufio.NewWriterSize(f, 1<<16)}, nil
}

func (s *seen) add(kind uint64, value [32]byte, index uint64) {
	copy(s.next[:8], value[24:])
	binary.BigEndian.PutUint64(s.next[8:], kind<<56|index)
	if _, err := s.w.Write(s.next[:]); err != nil && s.err == nil {
		s.err = fmt.Errorf("writing the work file: %w", err)
	}
	s.size += seenRecord
}

func (s *seen) close() error { return errors.Join(s.f.Close(), os.RemoveAll(s.dir)) }

// record is one that was read back.
type record struct{ value, place uint64 }

func (r record) kind() uint64  { return r.place >> 56 }
func (r record) index() uint64 { return r.place & (1<<56 - 1) }

// twice calls each for a record with the value and kind of an earlier one, first,
// by ascending index for each value.
func (s *seen) twice(each func(first, again record) error) error {
	if s.err == nil {
		s.err = s.w.Flush()
	}
	if s.err != nil {
		return s.err
	}
	parts, err := s.split()
	if err != nil {
		return err
	}
	for i := range parts {
		records, err := s.part(parts, i)
		if err != nil {
			return err
		}
		slices.SortFunc(records, func(a, b record) int {
			return cmp.Or(cmp.Compare(a.value, b.value), cmp.Compare(a.place, b.place))
		})
		var first record
		for j, r := range records {
			if j == 0 || first.value != r.value || first.kind() != r.kind() {
				first = r
			} else if err := each(first, r); err != nil {
				return err
			}
		}
	}
	return nil
}

// split writes the records to files by value and returns how many there are, as
// a slice of their sizes; one file is the file itself.
func (s *seen) split() ([]int64, error) {
	n := 1
	for int64(n)*seenPart*seenRecord < s.size && n < seenParts {
		n *= 2
	}
	sizes := make([]int64, n)
	if n == 1 {
		sizes[0] = s.size
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
	err := s.read(s.f, s.size, func(r record) error {
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
func (f *fold) unique(ctx context.Context) error {
	var near Chunk // the chunk that was read last
	at := ^uint64(0)
	commit := func(index uint64) (*audit.Commit, error) {
		if n := index / Width; n != at {
			var err error
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
		return fault(CodeKeyTag, "", "the key tag stands in entry %d, too: one idempotency key made two shuffles",
			first), a.KeyTag == b.KeyTag
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
