package inspect

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"shuffled/internal/audit"
)

// What may stand in one commit of a ledger only.
const (
	kindCommitment = 1 + iota
	kindKeyTag
	kindSlot
)

// seen finds what stands in two commits. The fold puts a record of 16 bytes for each
// value into one of many parts, by the value: the last 8 bytes of the value and, in 8
// more, kind and index. A part goes on in a file when it is large. At the end each is
// sorted in memory. Two records alike are a suspicion, which the entries decide.
type seen struct {
	dir   string // of the files, which close removes; "": there are none
	err   error  // the first failure to write
	parts [seenParts]seenPart
}

// seenPart is the records of some values: first those of its file.
type seenPart struct {
	filed int64 // bytes
	tail  []byte
}

const (
	seenRecord = 16
	seenParts  = 1 << 10 // of a ledger of 10⁸ shuffles each has some 5 MB
)

// seenTail is how many bytes of a part stay in memory: 4 MiB of all. Tests lower it.
var seenTail = 1 << 12

func (s *seen) add(kind uint64, value [32]byte, index uint64) {
	i := binary.BigEndian.Uint16(value[24:]) % seenParts
	p := &s.parts[i]
	if s.err != nil {
		return
	}
	p.tail = append(p.tail, value[24:]...)
	p.tail = binary.BigEndian.AppendUint64(p.tail, kind<<56|index)
	if len(p.tail) >= seenTail {
		s.err = s.file(int(i))
	}
}

// file moves the tail of a part to its file. The directory is made where the system
// keeps temporary files: TMPDIR names another place.
func (s *seen) file(i int) (err error) {
	if s.dir == "" {
		if s.dir, err = os.MkdirTemp("", "shuffled-audit-"); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(s.name(i), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	p := &s.parts[i]
	n, err := f.Write(p.tail)
	p.filed, p.tail = p.filed+int64(n), p.tail[:0]
	return errors.Join(err, f.Close())
}

func (s *seen) name(i int) string { return filepath.Join(s.dir, strconv.Itoa(i)) }

func (s *seen) close() error {
	if s.dir == "" {
		return nil
	}
	return os.RemoveAll(s.dir)
}

// record is one that was read back.
type record struct{ value, place uint64 }

func (r record) kind() uint64  { return r.place >> 56 }
func (r record) index() uint64 { return r.place & (1<<56 - 1) }

// twice calls each for a record with the value and kind of an earlier one, first,
// by ascending index for each value.
func (s *seen) twice(each func(first, again record) error) error {
	if s.err != nil {
		return fmt.Errorf("writing a work file: %w", s.err)
	}
	for i := range s.parts {
		records, err := s.read(i)
		if err != nil {
			return fmt.Errorf("reading a work file: %w", err)
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

// read returns the records of a part.
func (s *seen) read(i int) ([]record, error) {
	p := &s.parts[i]
	var filed []byte
	if p.filed > 0 {
		var err error
		if filed, err = os.ReadFile(s.name(i)); err != nil {
			return nil, err
		}
		if int64(len(filed)) != p.filed {
			return nil, fmt.Errorf("it has %d bytes, and %d were written", len(filed), p.filed)
		}
	}
	records := make([]record, 0, (len(filed)+len(p.tail))/seenRecord)
	for _, b := range [][]byte{filed, p.tail} {
		for ; len(b) > 0; b = b[seenRecord:] {
			records = append(records, record{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])})
		}
	}
	return records, nil
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
