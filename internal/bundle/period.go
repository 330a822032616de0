package bundle

import (
	"encoding/binary"
	"fmt"
	"math"
	"sort"
	"time"

	"shuffled/internal/audit"
)

// period returns the manifest's account of the report's time. Times never
// decrease (rule time of section 9), so its ends are searched for; in a ledger
// that breaks the rule they are somewhere, and the audit says so.
func (x *export) period() (Period, error) {
	p := Period{First: 0, Entries: x.head.Size}
	end := x.head.Size
	var err error
	if !x.o.From.IsZero() {
		p.From = formatTime(x.o.From.UnixMilli())
		if p.First, err = x.since(x.o.From); err != nil {
			return p, err
		}
	}
	if !x.o.To.IsZero() {
		p.To = formatTime(x.o.To.UnixMilli())
		if end, err = x.since(x.o.To); err != nil {
			return p, err
		}
	}
	if p.Entries = max(end, p.First) - p.First; p.Entries == 0 {
		p.Activity = NoActivity
	}
	return p, nil
}

// since returns the index of the first entry at or after t.
func (x *export) since(t time.Time) (uint64, error) {
	if x.head.Size > math.MaxInt {
		return 0, fmt.Errorf("%w: a ledger of %d entries", audit.ErrMalformed, x.head.Size)
	}
	var failed error
	index := sort.Search(int(x.head.Size), func(i int) bool {
		entries, err := x.bundleOf(uint64(i)/Width, x.head.Size)
		if err != nil {
			failed = err
			return true
		}
		return timeOf(entries[i%Width]) >= t.UnixMilli()
	})
	return uint64(index), failed
}

// timeOf returns the time of an entry, 0 of bytes that are none.
func timeOf(entry []byte) int64 {
	if len(entry) < 10 {
		return 0
	}
	return int64(binary.BigEndian.Uint64(entry[2:]) & audit.MaxInteger)
}
