package dealer

import (
	"context"
	"fmt"
	"slices"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
)

// RevealRequest asks that dealt places become public.
type RevealRequest struct {
	Places  []int `json:"places"`
	Exposed bool  `json:"exposed,omitzero"` // they were seen by mistake
}

// Reveal is the answer to a RevealRequest, the same for ever, except Repeated.
type Reveal struct {
	Answered
	Places  []int        `json:"places"` // ascending
	Cards   []audit.Card `json:"cards"`
	Shows   []uint32     `json:"shows,omitempty"`  // of draws, what the places show, moved by a mix
	Labels  []string     `json:"labels,omitempty"` // of a wheel, what Shows mean
	Receipt string       `json:"receipt"`
}

// revealed is one stored reveal.
type revealed struct {
	row    ledger.Row
	reveal *audit.Reveal
	by     string // identity
}

// Reveal makes places public that were dealt, and answers with their cards when that is
// durable. The same places revealed by the same identity again get the same answer.
func (d *Dealer) Reveal(ctx context.Context, actor audit.Actor, id uint64, req RevealRequest) (Reveal, error) {
	body, err := req.body("places", id)
	if err != nil {
		return Reveal{}, err
	}
	return answer(ctx, d, id, request[Reveal]{
		may:    mayPlay(actor),
		stands: func(r *record) bool { _, ok := r.revealOf(actor, body); return ok },
		repeat: func(r *record) (Reveal, error) {
			at, _ := r.revealOf(actor, body)
			return d.revealAgain(ctx, r, at)
		},
		do: func(r *record) (Reveal, error) { return d.reveal(ctx, actor, r, body) },
	})
}

func (d *Dealer) reveal(ctx context.Context, actor audit.Actor, r *record, body *audit.Reveal) (Reveal, error) {
	t, err := d.open(ctx, r)
	if err != nil {
		return Reveal{}, err
	}
	defer t.wipe()
	answer, err := d.showing(ctx, r, t, body, r.next())
	if err != nil {
		return Reveal{}, err
	}
	appended, err := d.propose(ctx, ledger.Proposal{Actor: actor, Bodies: []audit.Body{body}})
	if err != nil {
		return Reveal{}, err
	}
	answer.Time, answer.Receipt = Time(appended[0].Entry.Time), appended[0].Receipt.Text()
	return answer, nil
}

func (d *Dealer) revealAgain(ctx context.Context, r *record, at revealed) (Reveal, error) {
	t, err := d.open(ctx, r)
	if err != nil {
		return Reveal{}, err
	}
	defer t.wipe()
	answer, err := d.showing(ctx, r, t, at.reveal, r.next())
	if err != nil {
		return Reveal{}, err
	}
	answer.Answered, answer.Receipt, err = again(ctx, at.row, d.cfg.Ledger.FirstReceipt)
	return answer, err
}

// showing is the answer to a reveal without its time and receipt. next is the next place to deal
// when the reveal is in the ledger.
func (d *Dealer) showing(ctx context.Context, r *record, t *opened, body *audit.Reveal, next int) (a Reveal,
	err error) {
	if i := slices.IndexFunc(body.Places, func(place uint16) bool { return int(place) >= next }); i >= 0 {
		return a, illegal(audit.RuleReveal,
			"place %d of shuffle %d was not dealt: the next is %d", body.Places[i], r.id, next)
	}
	names, err := d.names(ctx, r)
	if err != nil {
		return a, err
	}
	for _, place := range body.Places {
		a.Places, a.Cards = append(a.Places, int(place)), append(a.Cards, t.cards(names, int(place), 1)...)
		if t.shows != nil {
			a.Shows = append(a.Shows, t.shows[place])
		}
	}
	wheel, err := d.wheel(ctx, r)
	a.Labels = labels(wheel, a.Shows)
	return a, err
}

// body is the entry that the request asks for. field is the JSON member of its places.
func (r *RevealRequest) body(field string, id uint64) (*audit.Reveal, error) {
	if len(r.Places) < 1 || len(r.Places) > audit.MaxReveals {
		return nil, &RequestError{field, fmt.Sprintf("must name 1 to %d places that were dealt", audit.MaxReveals)}
	}
	b := &audit.Reveal{Shuffle: id, Exposed: r.Exposed}
	for i, place := range r.Places {
		if place < 0 || place >= audit.MaxReveals {
			return nil, &RequestError{fmt.Sprintf("%s[%d]", field, i),
				fmt.Sprintf("must be a place from 0 to %d", audit.MaxReveals-1)}
		}
		b.Places = append(b.Places, uint16(place))
	}
	slices.Sort(b.Places)
	for i := range b.Places[1:] {
		if b.Places[i] == b.Places[i+1] {
			return nil, &RequestError{field, fmt.Sprintf("must name each place once, and names place %d twice", b.Places[i])}
		}
	}
	return b, nil
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

// finalReveal is the reveal that a close asks for in front of itself, nil if it asks for none.
// prefix is put before the names of the request's fields in errors.
func (c *CloseRequest) finalReveal(prefix string, id uint64) (*audit.Reveal, error) {
	if c.Reveal == nil {
		return nil, nil
	}
	if c.Reason == audit.ReasonTapeLost {
		return nil, &RequestError{prefix + "reveal", "must not be given with tape_lost: no card can be opened"}
	}
	req := RevealRequest{Places: c.Reveal}
	body, err := req.body(prefix+"reveal", id)
	if err == nil {
		body.Final = true
	}
	return body, err
}

// sameReveal reports whether a closed shuffle's final reveal is that of the request.
func (r *record) sameReveal(want *audit.Reveal) bool {
	i := len(r.reveals) - 1
	if i < 0 || !r.reveals[i].reveal.Final {
		return want == nil
	}
	return want != nil && slices.Equal(r.reveals[i].reveal.Places, want.Places)
}

// shownAtClose is the answer to a close's final reveal, without time and receipt; nil if the
// request has none. next is the next place to deal when the close is in the ledger.
func (d *Dealer) shownAtClose(ctx context.Context, r *record, t *opened, req *CloseRequest, next int) (*Reveal,
	error) {
	if req == nil {
		return nil, nil
	}
	body, err := req.finalReveal("close.", r.id)
	if body == nil || err != nil {
		return nil, err
	}
	shown, err := d.showing(ctx, r, t, body, next)
	return &shown, err
}
