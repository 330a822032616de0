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

// workFiles hold records in many parts. When a part is large, it continues in a file, so that
// memory does not grow with the ledger. At the end one part at a time is read back.
type workFiles struct {
	dir   string // of the files, which close removes; "": there are none
	err   error  // the first failure to write, which read returns
	parts [workParts]workPart
}

// workPart is one part: the records in its file, and then the tail.
type workPart struct {
	filed int64 // bytes
	tail  []byte
}

// workParts is the number of parts. With the values of 10⁸ commits each part has some 5 MB.
const workParts = 1 << 10

// workTail is how many bytes of a part stay in memory, 4 MiB in all parts. Tests lower it.
var workTail = 1 << 12

// put adds a record to the part of this number modulo workParts.
func (w *workFiles) put(part uint64, record []byte) {
	i := int(part % workParts)
	p := &w.parts[i]
	if w.err != nil {
		return
	}
	p.tail = append(p.tail, record...)
	if len(p.tail) >= workTail {
		w.err = w.file(i)
	}
}

// file moves the tail of a part to its file. The directory of the files is made in the
// system's directory for temporary files, or in TMPDIR.
func (w *workFiles) file(i int) (err error) {
	if w.dir == "" {
		if w.dir, err = os.MkdirTemp("", "shuffled-audit-"); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(w.name(i), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	p := &w.parts[i]
	n, err := f.Write(p.tail)
	p.filed, p.tail = p.filed+int64(n), p.tail[:0]
	return errors.Join(err, f.Close())
}

func (w *workFiles) name(i int) string { return filepath.Join(w.dir, strconv.Itoa(i)) }

func (w *workFiles) close() error {
	if w.dir == "" {
		return nil
	}
	return os.RemoveAll(w.dir)
}

// read returns the records of a part, one after the other, in the order of put.
func (w *workFiles) read(i int) ([]byte, error) {
	if w.err != nil {
		return nil, fmt.Errorf("writing a work file: %w", w.err)
	}
	p := &w.parts[i]
	if p.filed == 0 {
		return p.tail, nil
	}
	filed, err := os.ReadFile(w.name(i))
	if err == nil && int64(len(filed)) != p.filed {
		err = fmt.Errorf("it has %d bytes, and %d were written", len(filed), p.filed)
	}
	if err != nil {
		return nil, fmt.Errorf("reading a work file: %w", err)
	}
	return append(filed, p.tail...), nil
}

// Kinds of values that at most one commit of a ledger has.
const (
	kindCommitment = 1 + iota
	kindKeyTag
	kindSlot
)

// seen finds values that are in two commits. The fold writes a record of 16 bytes for each value: the last 8 bytes of
// the value, then kind and index of the commit. The value decides the part of the work files. At the end each part is
// sorted in memory. If two records have the same 8 bytes, the entries are read again and decide.
type seen struct{ workFiles }

const seenRecord = 16

func (s *seen) add(kind uint64, value [32]byte, index uint64) {
	s.put(uint64(binary.BigEndian.Uint16(value[24:])), binary.BigEndian.AppendUint64(value[24:32:32], kind<<56|index))
}

// record is a record that was read back.
type record struct{ value, place uint64 }

func (r record) kind() uint64  { return r.place >> 56 }
func (r record) index() uint64 { return r.place & (1<<56 - 1) }

// twice calls each for a record with the value and kind of an earlier one, first, by ascending index for each value.
func (s *seen) twice(each func(first, again record) error) error {
	for i := range s.parts {
		part, err := s.read(i)
		if err != nil {
			return err
		}
		records := make([]record, 0, len(part)/seenRecord)
		for b := part; len(b) > 0; b = b[seenRecord:] {
			records = append(records, record{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])})
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

// unique names values that are in two commits.
func (f *fold) unique(ctx context.Context) error {
	commit := func(index uint64) (*audit.Commit, error) {
		n := index / Width
		chunk, err := f.src.Chunk(ctx, n, int(min(Width, f.size-n*Width)))
		var e audit.Entry
		if err == nil {
			e, err = audit.ParseEntry(chunk.Entries[index%Width])
		}
		c, ok := e.Body.(*audit.Commit)
		if err == nil && !ok {
			err = errors.New("it is no commit any more")
		}
		if err != nil {
			return nil, fmt.Errorf("reading entry %d again: %w", index, err)
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
