// Package record reads what a ledger holds of one shuffle, from its store or from memory, and opens the tape. It
// appends nothing. Opened tapes show undealt cards: a table in internal/arrows says which packages may open one.
package record

import (
	"errors"
	"slices"

	"shuffled/internal/audit"
	"shuffled/internal/dealer/api"
	"shuffled/internal/ledger"
)

// Record is what the ledger holds of one shuffle.
type Record struct {
	ID      uint64
	Row     ledger.Row // of the commit
	Commit  *audit.Commit
	Mix     *audit.Mix
	Deals   []Dealt
	Closed  *audit.Close
	Ended   *audit.DisclosureEntry // how the ledger discloses the tape; nil: open, or continued
	CloseAt int64
	CloseBy int64        // of the chain, if the shuffle was continued
	Owner   string       // identity
	Extent  audit.Extent // what the owner may do
	Taken   []taken      // takeovers
	Reveals []Revealed
	Rows    []ledger.Row // all, in order; the commit first
	held    []byte       // what Recent.Hold sealed; nil: nothing
}

// taken is one stored takeover.
type taken struct {
	Row  ledger.Row
	From string // the owner before
}

// Dealt is one stored deal.
type Dealt struct {
	Row  ledger.Row
	Deal *audit.Deal
}

// add adds the next entry of the shuffle.
func (r *Record) add(row ledger.Row, e audit.Entry) {
	r.Rows = append(r.Rows, row)
	switch b := e.Body.(type) {
	case *audit.Commit:
		r.Row, r.Commit = row, b
		r.Owner, r.Extent, r.CloseBy = e.Actor.Identity, audit.ExtentPlay, b.CloseBy
	case *audit.Mix:
		r.Mix = b
	case *audit.Deal:
		r.Deals = append(r.Deals, Dealt{row, b})
	case *audit.Close:
		r.Closed, r.CloseAt = b, e.Time
	case *audit.Takeover:
		r.Taken = append(r.Taken, taken{row, r.Owner})
		r.Owner, r.Extent = e.Actor.Identity, b.Extent
	case *audit.Reveal:
		r.Reveals = append(r.Reveals, Revealed{row, b, e.Actor.Identity})
	}
	if told, ok := audit.DisclosedBy(e.Body); ok {
		r.Ended = &told
	}
}

// Continued reports whether the cards are in a child, and the tape is not disclosed.
func (r *Record) Continued() bool { return r.Closed != nil && r.Ended == nil }

// NotOpen refuses what takes an open shuffle.
func (r *Record) NotOpen() error {
	return api.Illegal(audit.RuleNotOpen, "shuffle %d is not open", r.ID)
}

// Next returns the next place to deal.
func (r *Record) Next() int {
	if len(r.Deals) == 0 {
		return 0
	}
	last := r.Deals[len(r.Deals)-1].Deal
	return last.First + last.Count()
}

// DealAt returns the deal that starts at place first.
func (r *Record) DealAt(first int) (Dealt, bool) {
	i := slices.IndexFunc(r.Deals, func(d Dealt) bool { return d.Deal.First == first })
	if i < 0 {
		return Dealt{}, false
	}
	return r.Deals[i], true
}

// RowOf returns the row of the mix or of the close, which may come after takeovers.
func (r *Record) RowOf(t audit.Type) ledger.Row {
	return r.Rows[slices.IndexFunc(r.Rows, func(row ledger.Row) bool { return row.Type == t })]
}

// PlayedAt returns the index of the first mix or deal, audit.MaxInteger for none.
func (r *Record) PlayedAt() uint64 {
	switch {
	case r.Mix != nil:
		return r.RowOf(audit.TypeMix).Index
	case len(r.Deals) > 0:
		return r.Deals[0].Row.Index
	}
	return audit.MaxInteger
}

// Revealed is one stored reveal.
type Revealed struct {
	Row    ledger.Row
	Reveal *audit.Reveal
	by     string // identity
}

// RevealOf returns the stored reveal of the same places by the actor's identity.
func (r *Record) RevealOf(actor audit.Actor, body *audit.Reveal) (Revealed, bool) {
	i := slices.IndexFunc(r.Reveals, func(x Revealed) bool {
		return x.by == actor.Identity && x.Reveal.Final == body.Final && x.Reveal.Exposed == body.Exposed &&
			slices.Equal(x.Reveal.Places, body.Places)
	})
	if i < 0 {
		return Revealed{}, false
	}
	return r.Reveals[i], true
}

// SameReveal reports whether a closed shuffle's final reveal is that of the request.
func (r *Record) SameReveal(want *audit.Reveal) bool {
	i := len(r.Reveals) - 1
	if i < 0 || !r.Reveals[i].Reveal.Final {
		return want == nil
	}
	return want != nil && slices.Equal(r.Reveals[i].Reveal.Places, want.Places)
}

// Blind reports whether the shuffle has a co-dealer.
func (r *Record) Blind() bool {
	_, ok := r.Commit.Context.CoDealer()
	return ok
}

// Before returns the row behind which the next deal comes: the last deal, or else the mix, or else the commit.
func (r *Record) Before() ledger.Row {
	switch {
	case len(r.Deals) > 0:
		return r.Deals[len(r.Deals)-1].Row
	case r.Mix != nil:
		return r.RowOf(audit.TypeMix)
	}
	return r.Row
}

// Ordered refuses a shuffle that has no order in r, because its plan is not mixed there. The
// ledger may have a mix that is not in r.
func (r *Record) Ordered() error {
	if len(r.Commit.Context.Mixed()) > 0 && r.Mix == nil {
		return api.Illegal(audit.RuleMix, "shuffle %d is dealt only after its mix", r.ID)
	}
	return nil
}

// grown is a copy of r. What is added to the copy does not change r.
func (r *Record) grown() *Record {
	more := *r
	more.Rows, more.Deals = slices.Clip(r.Rows), slices.Clip(r.Deals)
	more.Taken, more.Reveals = slices.Clip(r.Taken), slices.Clip(r.Reveals)
	return &more
}

// recordOverhead is about how many bytes a record, and each entry in it, take in addition to the bytes of the entry.
const recordOverhead = 512

// bytes is about how many bytes the record takes. It holds each entry encoded and parsed.
func (r *Record) bytes() int {
	n := recordOverhead + len(r.held)
	for _, row := range r.Rows {
		n += recordOverhead + 3*len(row.Entry) + len(row.Kept)
	}
	return n
}

// Shown returns the dealt places that the viewer may see, in order. Every viewer sees public runs and revealed places.
// The owner also sees the places that are not aside. Viewers to whom the tape is disclosed see all places, except those
// aside in a blind shuffle: its co-dealer did not open them. If the view has a recipient, it has only the public places
// and those of the recipient.
func (r *Record) Shown(v api.View) (places []int) {
	disclosed := r.Ended != nil && (r.Ended.Form == audit.FormTape || r.Ended.Form == audit.FormSealed && v.Auditor)
	owner := v.Identity != "" && v.Identity == r.Owner && r.Extent == audit.ExtentPlay
	for _, dl := range r.Deals {
		for place, run := range dl.Deal.Places() {
			all := disclosed && !(run.Aside() && r.Blind()) || owner && !run.Aside() // a co-dealer opens none aside
			if v.Recipient != "" {
				all = all && run.Recipient == v.Recipient
			}
			revealed := func(x Revealed) bool {
				_, found := slices.BinarySearch(x.Reveal.Places, uint16(place))
				return found
			}
			if run.Public || all || slices.ContainsFunc(r.Reveals, revealed) {
				places = append(places, place)
			}
		}
	}
	return places
}

// TellsAside reports whether a child of the named places would tell the owner what a burn or discard is: it has one,
// and not all cards that the owner did not see (docs/SPEC.md section 8).
func (r *Record) TellsAside(places int, named func(place int) bool) bool {
	seen, left, aside := r.Shown(api.View{Identity: r.Owner}), places, false
	for place := range places {
		_, shown := slices.BinarySearch(seen, place)
		if shown || named(place) {
			left--
		}
		aside = aside || !shown && place < r.Next() && named(place)
	}
	return aside && left > 0
}

// Public returns the dealt places that every viewer may see. If the tape is disclosed to everybody,
// these are all places.
func (r *Record) Public() []int { return r.Shown(api.View{}) }

// Names reports whether any run is for the recipient.
func (r *Record) Names(recipient string) bool {
	to := func(run audit.Run) bool { return run.Recipient == recipient }
	return slices.ContainsFunc(r.Deals, func(d Dealt) bool { return slices.ContainsFunc(d.Deal.Runs, to) })
}

// ErrMoved: a shuffle was dealt from or revealed after the dealer read it for a proposal.
var ErrMoved = errors.New("the shuffle was dealt from or revealed after it was read")
