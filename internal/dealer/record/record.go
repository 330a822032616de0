package dealer

import (
	"errors"
	"slices"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
)

// record is what the ledger holds of one shuffle.
type record struct {
	id      uint64
	row     ledger.Row // of the commit
	commit  *audit.Commit
	at      int64 // time of the commit
	mix     *audit.Mix
	deals   []dealt
	closed  *audit.Close
	ended   *audit.DisclosureEntry // how the ledger discloses the tape; nil: open, or continued
	closeAt int64
	closeBy int64        // of the chain, if the shuffle was continued
	owner   string       // identity
	extent  audit.Extent // what the owner may do
	taken   []taken      // takeovers
	reveals []revealed
	rows    []ledger.Row // all, in order; the commit first
	held    []byte       // what recent.hold sealed; nil: nothing
}

// taken is one stored takeover.
type taken struct {
	row  ledger.Row
	from string // the owner before
}

// dealt is one stored deal.
type dealt struct {
	row  ledger.Row
	deal *audit.Deal
}

// add adds the next entry of the shuffle.
func (r *record) add(row ledger.Row, e audit.Entry) {
	r.rows = append(r.rows, row)
	switch b := e.Body.(type) {
	case *audit.Commit:
		r.row, r.commit, r.at = row, b, e.Time
		r.owner, r.extent, r.closeBy = e.Actor.Identity, audit.ExtentPlay, b.CloseBy
	case *audit.Mix:
		r.mix = b
	case *audit.Deal:
		r.deals = append(r.deals, dealt{row, b})
	case *audit.Close:
		r.closed, r.closeAt = b, e.Time
	case *audit.Takeover:
		r.taken = append(r.taken, taken{row, r.owner})
		r.owner, r.extent = e.Actor.Identity, b.Extent
	case *audit.Reveal:
		r.reveals = append(r.reveals, revealed{row, b, e.Actor.Identity})
	}
	if told, ok := audit.DisclosedBy(e.Body); ok {
		r.ended = &told
	}
}

// continued reports whether the cards are in a child, and the tape is not disclosed.
func (r *record) continued() bool { return r.closed != nil && r.ended == nil }

// notOpen refuses what takes an open shuffle.
func (r *record) notOpen() error {
	return illegal(audit.RuleNotOpen, "shuffle %d is not open", r.id)
}

// next returns the next place to deal.
func (r *record) next() int {
	if len(r.deals) == 0 {
		return 0
	}
	last := r.deals[len(r.deals)-1].deal
	return last.First + last.Count()
}

// dealAt returns the deal that starts at place first.
func (r *record) dealAt(first int) (dealt, bool) {
	i := slices.IndexFunc(r.deals, func(d dealt) bool { return d.deal.First == first })
	if i < 0 {
		return dealt{}, false
	}
	return r.deals[i], true
}

// rowOf returns the row of the mix or of the close, which may come after takeovers.
func (r *record) rowOf(t audit.Type) ledger.Row {
	return r.rows[slices.IndexFunc(r.rows, func(row ledger.Row) bool { return row.Type == t })]
}

// playedAt returns the index of the first mix or deal, audit.MaxInteger for none.
func (r *record) playedAt() uint64 {
	switch {
	case r.mix != nil:
		return r.rowOf(audit.TypeMix).Index
	case len(r.deals) > 0:
		return r.deals[0].row.Index
	}
	return audit.MaxInteger
}

// revealed is one stored reveal.
type revealed struct {
	row    ledger.Row
	reveal *audit.Reveal
	by     string // identity
}

// revealOf returns the stored reveal of the same places by the actor's identity.
func (r *record) revealOf(actor audit.Actor, body *audit.Reveal) (revealed, bool) {
	i := slices.IndexFunc(r.reveals, func(x revealed) bool {
		return x.by == actor.Identity && x.reveal.Final == body.Final && x.reveal.Exposed == body.Exposed &&
			slices.Equal(x.reveal.Places, body.Places)
	})
	if i < 0 {
		return revealed{}, false
	}
	return r.reveals[i], true
}

// isRevealed reports whether a reveal made a place public.
func (r *record) isRevealed(place int) bool {
	return slices.ContainsFunc(r.reveals, func(x revealed) bool {
		_, found := slices.BinarySearch(x.reveal.Places, uint16(place))
		return found
	})
}

// sameReveal reports whether a closed shuffle's final reveal is that of the request.
func (r *record) sameReveal(want *audit.Reveal) bool {
	i := len(r.reveals) - 1
	if i < 0 || !r.reveals[i].reveal.Final {
		return want == nil
	}
	return want != nil && slices.Equal(r.reveals[i].reveal.Places, want.Places)
}

// blind reports whether the shuffle has a co-dealer.
func (r *record) blind() bool {
	_, ok := r.commit.Context.CoDealer()
	return ok
}

// before returns the row behind which the next deal comes: the last deal, or else the mix, or else the commit.
func (r *record) before() ledger.Row {
	switch {
	case len(r.deals) > 0:
		return r.deals[len(r.deals)-1].row
	case r.mix != nil:
		return r.rowOf(audit.TypeMix)
	}
	return r.row
}

// ordered refuses a shuffle that has no order in r, because its plan is not mixed there. The
// ledger may have a mix that is not in r.
func (r *record) ordered() error {
	if len(r.commit.Context.Mixed()) > 0 && r.mix == nil {
		return illegal(audit.RuleMix, "shuffle %d is dealt only after its mix", r.id)
	}
	return nil
}

// grown is a copy of r. What is added to the copy does not change r.
func (r *record) grown() *record {
	more := *r
	more.rows, more.deals = slices.Clip(r.rows), slices.Clip(r.deals)
	more.taken, more.reveals = slices.Clip(r.taken), slices.Clip(r.reveals)
	return &more
}

// recordOverhead is about how many bytes a record, and each entry in it, take in addition to the bytes of the entry.
const recordOverhead = 512

// bytes is about how many bytes the record takes. It holds each entry encoded and parsed.
func (r *record) bytes() int {
	n := recordOverhead + len(r.held)
	for _, row := range r.rows {
		n += recordOverhead + 3*len(row.Entry) + len(row.Kept)
	}
	return n
}

// span is a stretch of dealt places.
type span struct{ first, count int }

// shown returns the dealt places that the viewer may see, in order. Every viewer sees public runs and revealed places.
// The owner also sees the places that are not aside. Viewers to whom the tape is disclosed see all places, except those
// aside in a blind shuffle: its co-dealer did not open them. If the view has a recipient, it has only the public places
// and those of the recipient.
func (r *record) shown(v View) (spans []span) {
	disclosed := r.ended != nil && (r.ended.Form == audit.FormTape || r.ended.Form == audit.FormSealed && v.Auditor)
	owner := v.Identity != "" && v.Identity == r.owner && r.extent == audit.ExtentPlay
	for _, dl := range r.deals {
		place := dl.deal.First
		for _, run := range dl.deal.Runs {
			all := disclosed || owner && !run.Aside()
			if run.Aside() && r.blind() {
				all = false // the co-dealer opened nothing of it
			}
			if v.Recipient != "" {
				all = all && run.Recipient == v.Recipient
			}
			end := place + run.Count
			if run.Public || all {
				spans = append(spans, span{place, run.Count})
				place = end
			}
			for ; place < end; place++ {
				if r.isRevealed(place) {
					spans = append(spans, span{place, 1})
				}
			}
		}
	}
	return spans
}

// public returns the dealt places that every viewer may see. If the tape is disclosed to everybody,
// these are all places.
func (r *record) public() []span { return r.shown(View{}) }

// names reports whether any run is for the recipient.
func (r *record) names(recipient string) bool {
	for _, dl := range r.deals {
		for _, run := range dl.deal.Runs {
			if run.Recipient == recipient {
				return true
			}
		}
	}
	return false
}

// errMoved: a shuffle was dealt from or revealed after the dealer read it for a proposal.
var errMoved = errors.New("the shuffle was dealt from or revealed after it was read")
