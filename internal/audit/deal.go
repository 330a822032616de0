package audit

import (
	"fmt"

	"shuffled/internal/shuffle"
)

// Run is a number of cards that go the same way. One for PurposeOrder is handed to a
// back end that deals by itself: who got which card is then not in the ledger.
type Run struct {
	Count     int // cards, from 1
	Purpose   Purpose
	Recipient string // who gets them, or empty
	Public    bool   // shown to everybody at once
}

// Deal gives out the next places of a shuffle (docs/SPEC.md section 5.5). It
// names no card: openings do.
type Deal struct {
	Shuffle    uint64
	First      int    // first place, counted from 0
	Cosigned   uint64 // size of the newest cosigned checkpoint held, 0 for none
	Final      bool   // the shuffle's close is the next entry
	Runs       []Run
	Extensions []Extension
}

// Count returns the number of places dealt.
func (d *Deal) Count() (n int) {
	for _, r := range d.Runs {
		n += r.Count
	}
	return n
}

// Type returns TypeDeal.
func (*Deal) Type() Type { return TypeDeal }

func (d *Deal) encode(w *writer) {
	w.u64(d.Shuffle)
	w.n16(d.First)
	w.u64(d.Cosigned)
	w.flag(d.Final)
	w.n16(len(d.Runs))
	for _, r := range d.Runs {
		w.n16(r.Count)
		w.u8(uint8(r.Purpose))
		w.str(r.Recipient)
		w.flag(r.Public)
	}
	w.extensions(d.Extensions)
}

func (d *Deal) parse(r *reader) {
	d.Shuffle = r.u64("shuffle")
	d.First = int(r.u16("first place"))
	d.Cosigned = r.u64("cosigned size")
	d.Final = r.flag("final")
	n := int(r.u16("runs"))
	if n < 1 || n > MaxRuns {
		r.fail("runs", fmt.Sprintf("1 to %d runs", MaxRuns))
	}
	end := d.First
	for i := 0; i < n && r.err == nil; i++ {
		run := Run{Count: int(r.u16("run count"))}
		end += run.Count
		if run.Count == 0 {
			r.fail("run count", "from 1")
		}
		if end > max(shuffle.MaxCards, shuffle.MaxRanges) {
			r.fail("runs", "deal past the last place of any shuffle")
		}
		run.Purpose = Purpose(r.code("purpose", &codesOfPurpose))
		run.Recipient = r.nameOrNone("recipient")
		run.Public = r.flag("public")
		d.Runs = append(d.Runs, run)
	}
	d.Extensions = r.extensions(&codesOfDealExtension)
}
