package inspect

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"shuffled/internal/audit"
)

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
