package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"shuffled/internal/ledger"
)

// CheckBatch returns an error unless the batch continues a ledger of size old: its rows are adjacent, the first has
// index old, and its head covers the last.
func CheckBatch(old uint64, b ledger.Batch) error {
	n := uint64(len(b.Rows))
	switch {
	case n == 0:
		return errors.New("the batch has no rows")
	case old > math.MaxInt64-n:
		return fmt.Errorf("the ledger's size %d is out of range", old)
	case b.Head.Size != old+n:
		return fmt.Errorf("the batch has %d rows between the sizes %d and %d", n, old, b.Head.Size)
	}
	for i := range b.Rows {
		if want := old + uint64(i); b.Rows[i].Index != want {
			return fmt.Errorf("row %d of the batch has index %d, not %d", i, b.Rows[i].Index, want)
		}
	}
	return nil
}

// Slots returns the slots of a batch in order, each with the index of its commit.
func Slots(b ledger.Batch) (slots [][]byte, commits []int64) {
	for i := range b.Rows {
		r := &b.Rows[i]
		for j := range r.Slots {
			slots, commits = append(slots, r.Slots[j][:]), append(commits, int64(r.Index))
		}
	}
	return slots, commits
}

// Decks returns the hashes of a batch's decks, and their lists as they are stored.
func Decks(b ledger.Batch) (hashes, lists [][]byte, err error) {
	for i := range b.Decks {
		list, err := EncodeDeck(b.Decks[i].Cards)
		if err != nil {
			return nil, nil, err
		}
		hashes, lists = append(hashes, b.Decks[i].Hash[:]), append(lists, list)
	}
	return hashes, lists, nil
}

// EncodeDeck returns the form in which card names are stored: their number as u16, then each name after its length as
// u8. A deck's hash covers these bytes after a label (docs/SPEC.md section 3).
func EncodeDeck(cards []string) ([]byte, error) {
	if len(cards) > math.MaxUint16 {
		return nil, fmt.Errorf("a deck of %d cards is too long", len(cards))
	}
	b := binary.BigEndian.AppendUint16(nil, uint16(len(cards)))
	for i, c := range cards {
		if len(c) > math.MaxUint8 {
			return nil, fmt.Errorf("the name of card %d is too long", i)
		}
		b = append(append(b, byte(len(c))), c...)
	}
	return b, nil
}

// DecodeDeck reads what EncodeDeck wrote, and refuses anything else.
func DecodeDeck(b []byte) ([]string, error) {
	bad := errors.New("the stored deck is malformed")
	if len(b) < 2 {
		return nil, bad
	}
	cards := make([]string, binary.BigEndian.Uint16(b))
	b = b[2:]
	for i := range cards {
		if len(b) == 0 || len(b) <= int(b[0]) {
			return nil, bad
		}
		cards[i], b = string(b[1:1+b[0]]), b[1+b[0]:]
	}
	if len(b) > 0 {
		return nil, bad
	}
	return cards, nil
}
