package client

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/verify"
)

// play is what a client saw of a shuffle since its commit. The shuffle's mu guards it.
type play struct {
	bound   verify.Bound
	ordered bool // whether the order in bound is known
	next    int  // at least the places below it were dealt
	dealt   map[int]CardShown

	// The cut card has not come out when the next place is before, and has when it is after.
	before, after int

	seen  uint64 // size of a checkpoint over the commit that the quorum cosigned, 0 if none is known
	whole int64  // second at which the quorum was complete there
	early bool   // the quorum cosigned the commit before the first mix or deal
}

func newPlay(s *Committed) play {
	order, err := openings.NewOrder(s.entry.leaf, s.commit, nil) // fails if a mix is planned
	p := play{bound: verify.NewBound(s.commit), ordered: err == nil, dealt: make(map[int]CardShown),
		before: s.Places(), after: s.Places() + 1}
	p.bound.Order = order
	if s.EndAt != nil {
		p.before, p.after = s.EndAt.Lo-1, s.EndAt.Hi
	}
	return p
}

// with calls f with what was seen of the shuffle, and nobody else changes it before f returns.
func (s *Committed) with(f func(*play)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.play)
}

// cut takes in whether the cut card has come out when next is the next place. It returns false, and takes nothing in,
// if that contradicts what was told before.
func (p *play) cut(next int, out bool) bool {
	before, after := p.before, p.after
	if out {
		after = min(after, next)
	} else {
		before = max(before, next)
	}
	if before >= after {
		return false
	}
	p.before, p.after = before, after
	return true
}

// CardShown is a dealt card, or a drawn value, with the run that it was dealt in.
type CardShown = verify.CardShown

// Dealt returns the cards that this client saw dealt and opened, by place: those of the time when the shuffle was
// loaded, and of every deal since. Burns and discards that open nothing are not among them.
func (s *Committed) Dealt() (cards []CardShown) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, place := range slices.Sorted(maps.Keys(s.play.dealt)) {
		cards = append(cards, s.play.dealt[place])
	}
	return cards
}

// Next returns the next place to deal, as far as this client saw. After a restart and Load, it is First of the deal
// that goes on.
func (s *Committed) Next() (next int) {
	s.with(func(p *play) { next = p.next })
	return next
}

// keep takes in the proved cards of a deal, and the numbers that they show as draws.
func (s *Committed) keep(cards []CardShown, shows []uint32, next int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, card := range cards {
		if i < len(shows) {
			card.Shows = shows[i]
		}
		s.play.dealt[card.Place] = card
	}
	s.play.next = max(s.play.next, next)
}

// mixed takes in the mix.
func (s *Committed) mixed(m *audit.Mix) error {
	order, err := openings.NewOrder(s.entry.leaf, s.commit, m)
	if err != nil {
		return err
	}
	s.with(func(p *play) { p.bound.Order, p.ordered = order, true })
	return nil
}

// open takes in the card at a place, as the verifier does. That of a child must be one that the parent gave.
func (s *Committed) open(o verify.Opened) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !s.play.ordered:
		return errors.New("a card was dealt before the mix")
	case o.Place < 0 || o.Place >= s.Places():
		return fmt.Errorf("there is no place %d", o.Place)
	case s.blind() && s.play.bound.Second == nil:
		return errors.New("the co-dealer's commit is not known")
	case slices.Contains(s.barred, o.Value) || s.parent != nil && !slices.ContainsFunc(s.commit.Context.Parent.Positions,
		func(p uint16) bool { return s.parent[p] == o.Value }):
		return fmt.Errorf("the card at place %d is none that the parent gave", o.Place)
	}
	if err := s.play.bound.Open(o); err != nil {
		return fmt.Errorf("place %d: %w", o.Place, err)
	}
	s.play.next = max(s.play.next, o.Place+1)
	return nil
}

// openAll takes in cards, and what draws are said to show.
func (s *Committed) openAll(cards []Card, told []uint32) error {
	for _, card := range cards {
		if err := s.open(opened(card)); err != nil {
			return err
		}
	}
	var want, shows []uint32
	var err error
	if s.with(func(p *play) { shows, err = p.bound.Shows() }); err != nil {
		return err
	}
	for _, card := range cards {
		if card.Position < len(shows) {
			want = append(want, shows[card.Position])
		}
	}
	if !slices.Equal(want, told) {
		return errors.New("the values show other numbers")
	}
	return nil
}

// finish checks a tape against all that was committed and shown. The order of a child is not recomputed if its parent's
// cards are not known.
func (s *Committed) finish(tape []byte, r reply) error {
	const other = "the tape is not the one committed to"
	ctx := s.commit.Context
	context := ctx.Encode()
	if openings.Commitment(context, tape) != s.commit.Commitment {
		return r.fault(other, nil)
	}
	out, err := ctx.Recipe.Run(tape)
	if err != nil {
		return r.fault(other, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if out.EndAt != 0 && (out.EndAt <= s.play.before || out.EndAt > s.play.after) {
		return r.fault(fmt.Sprintf("the cut card lay at place %d, and it was told otherwise", out.EndAt), nil)
	}
	values := out.Values
	if ctx.Parent != nil {
		if s.parent == nil {
			return nil
		}
		if values, err = openings.ChildValues(s.parent, ctx.Parent.Positions, values); err != nil {
			return r.fault(other, err)
		}
	}
	if openings.DeckRoot(s.commit.Commitment, context, tape, values) != tlog.Hash(s.commit.DeckRoot) {
		return r.fault("the tape leads to another order than the one committed to", nil)
	}
	for position, value := range s.play.bound.Values {
		if values[position] != value {
			return r.fault(fmt.Sprintf("the tape has another card at position %d than was dealt", position), nil)
		}
	}
	s.all = values
	return nil
}

// Positions returns all committed positions except those that the given places show, for Parent.Positions of a child.
// Without places it is every one, as a continuous shuffler needs it. Before the mix of a shuffle with a plan, a place
// is an error.
func (s *Committed) Positions(without ...int) ([]int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make(map[int]bool, len(without))
	for _, place := range without {
		if place < 0 || place >= s.Places() || !s.play.ordered {
			return nil, fmt.Errorf("shuffle %d shows nothing at place %d", s.ID, place)
		}
		out[s.play.bound.Order.Position(place)] = true
	}
	positions := make([]int, 0, s.Places())
	for p := range s.Places() {
		if !out[p] {
			positions = append(positions, p)
		}
	}
	return positions, nil
}
