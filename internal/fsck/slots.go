package fsck

import (
	"context"
	"encoding/hex"
	"fmt"

	"shuffled/internal/inspect"
	"shuffled/internal/store"
)

// readSlots reads the slots of a chunk's commits.
func (c *chunk) readSlots(ctx context.Context, width int) error {
	rows, err := c.source.rows.Range(ctx, store.SlotRows, c.id, c.first, c.first+uint64(width))
	if err != nil {
		return err
	}
	c.slots = make(map[uint64][]store.Raw)
	for _, r := range rows {
		if index, ok := r.Int("idx"); ok { // any other is named as odd
			c.slots[uint64(index)] = append(c.slots[uint64(index)], r)
		}
	}
	return nil
}

// holdSlots holds the slots that are kept of an entry against those in it. One
// that is not kept could stand in another commit.
func (c *chunk) holdSlots(index uint64, want [][32]byte) (faults []inspect.Fault) {
	add := func(code, where, format string, args ...any) {
		f := fault(code, where, format, args...)
		f.Entry = &index
		faults = append(faults, f)
	}
	kept := make(map[[32]byte]int)
	for _, slot := range want {
		kept[slot] = 0
	}
	for _, r := range c.slots[index] {
		slot, _ := r.Bytes("slot")
		n, known := 0, false
		if len(slot) == 32 {
			n, known = kept[[32]byte(slot)]
		}
		switch {
		case !known:
			add(CodeRowExtra, placeOf(r, ""), "the entry has no such slot")
			continue
		case n > 0:
			add(CodeRowTwice, placeOf(r, ""), "the slot stands in more than one row")
		}
		kept[[32]byte(slot)]++
	}
	for _, slot := range want {
		if kept[slot] == 0 {
			add(CodeRowMissing, place(store.SlotRows, "",
				fmt.Sprintf("idx=%d,slot=%s", index, hex.EncodeToString(slot[:]))), "the slot of the entry is not kept")
		}
	}
	return faults
}
