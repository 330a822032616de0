package audit

import (
	"iter"

	"shuffled/internal/shuffle"
)

// Run is a number of cards that one deal gives to one recipient for one purpose. The cards of a run for PurposeOrder go
// to a back end that deals by itself: the ledger then does not say which recipient got which card.
type Run struct {
	Count     int // cards, from 1
	Purpose   Purpose
	Recipient string // of the cards, or empty
	Public    bool   // shown to everybody at once
	Round     uint16 // of the game, counted from 1; 0 for none
}

// Aside reports whether nobody is to see the cards of the run: a burn or discard that is not public is not opened
// before the tape is disclosed (docs/SPEC.md section 8). What opens cards asks it of each run.
func (r Run) Aside() bool {
	return !r.Public && (r.Purpose == PurposeBurn || r.Purpose == PurposeDiscard)
}

// Deal gives out the next places of a shuffle (docs/SPEC.md section 5.5). It names no card: openings do.
type Deal struct {
	Shuffle    uint64
	First      int    // first place, counted from 0
	Checkpoint uint64 // size of the newest checkpoint that the house held, cosigned if the genesis asks for it
	Final      bool   // the shuffle's close is the next entry
	Runs       []Run
	Asked      *Asked // of an order for another ledger: what its house asked for
	Blind      *Blind // of a shuffle with a co-dealer: what the co-dealer gave
	Extensions []Extension
}

// Count returns the number of places dealt.
func (d *Deal) Count() (n int) {
	for _, r := range d.Runs {
		n += r.Count
	}
	return n
}

// Places yields the places of the deal in order, each with its run.
func (d *Deal) Places() iter.Seq2[int, Run] {
	return func(yield func(int, Run) bool) {
		place := d.First
		for _, r := range d.Runs {
			for range r.Count {
				if !yield(place, r) {
					return
				}
				place++
			}
		}
	}
}

// Opens returns the places of the deal that are opened to the identity that deals them: all that are not aside.
func (d *Deal) Opens() (places []int) {
	for place, r := range d.Places() {
		if !r.Aside() {
			places = append(places, place)
		}
	}
	return places
}

// Type returns TypeDeal.
func (*Deal) Type() Type { return TypeDeal }

func (d *Deal) fields(k *coder) {
	k.u64("shuffle", &d.Shuffle)
	k.num("first place", &d.First)
	k.u64("checkpoint", &d.Checkpoint)
	k.flag("final", &d.Final)
	d.runs(k)
	k.extended(&d.Extensions, &codesOfDealExtension, field(dealAsked, "asked", &d.Asked),
		field(dealBlind, "blind", &d.Blind))
}

func (d *Deal) runs(k *coder) {
	n := k.count16("runs", len(d.Runs))
	k.within("runs", n, 1, MaxRuns, "1 to %d runs")
	end := d.First
	list(k, n, &d.Runs, func(run, _ *Run) {
		k.num("run count", &run.Count)
		end += run.Count
		if run.Count == 0 {
			k.fail("run count", "from 1")
		}
		if end > max(shuffle.MaxCards, shuffle.MaxRanges) {
			k.fail("runs", "deal past the last place of any shuffle")
		}
		code(k, "purpose", &run.Purpose, &codesOfPurpose)
		k.nameOrNone("recipient", &run.Recipient)
		k.flag("public", &run.Public)
		k.u16("round", &run.Round)
	})
}

// Reveal makes places of a shuffle public that were dealt (docs/SPEC.md section 5.12).
// Like a deal it names no card: openings do.
type Reveal struct {
	Shuffle    uint64
	Final      bool     // the shuffle's close is the next entry
	Exposed    bool     // a card was seen by mistake
	Places     []uint16 // ascending
	Extensions []Extension
}

// Type returns TypeReveal.
func (*Reveal) Type() Type { return TypeReveal }

func (r *Reveal) fields(k *coder) {
	k.u64("shuffle", &r.Shuffle)
	k.flag("final", &r.Final)
	k.flag("exposed", &r.Exposed)
	n := k.count16("places", len(r.Places))
	k.within("places", n, 1, MaxReveals, "1 to %d places")
	list(k, n, &r.Places, func(place, before *uint16) {
		k.u16("place", place)
		if int(*place) >= MaxReveals {
			k.fail("place", "past the last place of any shuffle")
		}
		if before != nil && *before >= *place {
			k.fail("places", "in ascending order, each once")
		}
	})
	k.extended(&r.Extensions, &codesOfRevealExtension)
}
