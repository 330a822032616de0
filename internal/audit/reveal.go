package audit

import "fmt"

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
	if n < 1 || n > MaxReveals {
		k.fail("places", fmt.Sprintf("1 to %d places", MaxReveals))
	}
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
