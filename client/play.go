package client

import (
	"fmt"
	"maps"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/verify"
)

// play is what a client saw of a shuffle since its commit. The shuffle's mu guards it.
type play struct {
	order   audit.Order // of places, once ordered is true
	ordered bool
	mix     *audit.Mix
	next    int            // at least the places below it were dealt
	values  map[int]uint32 // by committed position
	shown   map[uint32]int // of cards: the position of each value
	dealt   map[int]CardShown

	// The cut card has not come out when the next place is before, and has when it is after.
	before, after int

	seen  uint64 // size of a checkpoint over the commit that the quorum cosigned, 0 if none is known
	early bool   // the quorum cosigned the commit before the first mix or deal
}

func newPlay(s *Committed) play {
	ctx := s.commit.Context
	p := play{values: make(map[int]uint32), shown: make(map[uint32]int),
		dealt: make(map[int]CardShown)}
	if len(ctx.Mixed()) == 0 {
		p.order, _ = audit.NewOrder(s.entry.leaf, s.commit, nil) // fails for a mix only
		p.ordered = true
	}
	switch r := ctx.Recipe; {
	case r.EndHi != 0:
		p.before, p.after = r.EndLo-1, r.EndHi
	case ctx.EndAt != 0:
		p.before, p.after = ctx.EndAt-1, ctx.EndAt
	default:
		p.before, p.after = r.Positions(), r.Positions()+1
	}
	return p
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
func (s *Committed) Next() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.play.next
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
	order, err := audit.NewOrder(s.entry.leaf, s.commit, m)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.play.mix, s.play.order, s.play.ordered = m, order, true
	return nil
}

// open takes in the card at a place, or says what is wrong with it.
func (s *Committed) open(place int, o audit.Opening) (what string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ctx := s.commit.Context
	switch {
	case !s.play.ordered:
		return "a card was dealt before the mix", nil
	case place < 0 || place >= s.Places():
		return fmt.Sprintf("there is no place %d", place), nil
	case s.play.order.Position(place) != o.Position:
		return fmt.Sprintf("place %d shows position %d, and it is position %d", place, o.Position,
			s.play.order.Position(place)), nil
	}
	if err := o.Check(s.tag, tlog.Hash(s.DeckRoot), s.Places()); err != nil {
		return fmt.Sprintf("the card at place %d", place), err
	}
	if ctx.IsDraw() {
		if k := ctx.Recipe.Ranges[o.Position]; o.Value < 1 || o.Value > k {
			return fmt.Sprintf("place %d holds %d of 1 to %d", place, o.Value, k), nil
		}
	} else if what := s.fits(place, o); what != "" {
		return what, nil
	}
	s.play.values[o.Position] = o.Value
	s.play.next = max(s.play.next, place+1)
	return "", nil
}

// fits says why a card that was committed to cannot be at a place, or "".
func (s *Committed) fits(place int, o audit.Opening) string {
	if at, dealt := s.play.shown[o.Value]; dealt && at != o.Position {
		return fmt.Sprintf("the card at place %d was dealt before", place)
	}
	if s.commit.Context.Parent == nil && int64(o.Value) >= int64(s.commit.Context.Recipe.Cards) {
		return fmt.Sprintf("the card at place %d is none of the deck", place)
	}
	if s.barred[o.Value] || s.parent != nil && !s.given[o.Value] {
		return fmt.Sprintf("the card at place %d is none that the parent gave", place)
	}
	s.play.shown[o.Value] = o.Position
	return ""
}

// shows returns the numbers that opened values show, which a mix moves. Of numbers without repeats it needs the values
// of all places before them, which were opened before.
func (s *Committed) shows(opened []audit.Opening) ([]uint32, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	end := s.Places()
	if s.commit.Context.IsNumbers() {
		end = 0
		for _, o := range opened {
			end = max(end, o.Position+1)
		}
	}
	given := make(map[int]uint32, len(opened))
	for _, o := range opened {
		given[o.Position] = o.Value
	}
	values := make([]uint32, end)
	for i := range values {
		values[i] = 1 // what is not opened moves nothing else
		if v, known := given[i]; known {
			values[i] = v
		} else if v, known := s.play.values[i]; known {
			values[i] = v
		} else if s.commit.Context.IsNumbers() {
			return nil, fmt.Errorf("the number at place %d was not opened, and those after it depend on it", i)
		}
	}
	moved, err := s.play.order.Shows(values)
	if err != nil {
		return nil, err
	}
	out := make([]uint32, len(opened))
	for i, o := range opened {
		out[i] = moved[o.Position]
	}
	return out, nil
}

// finish checks a tape against all that was committed and shown. The order of a child is not recomputed if its parent's
// cards are not known.
func (s *Committed) finish(tape []byte) (what string, err error) {
	const other = "the tape is not the one committed to"
	ctx := s.commit.Context
	context := ctx.Encode()
	if audit.Commitment(context, tape) != s.commit.Commitment {
		return other, nil
	}
	out, err := ctx.Recipe.Run(tape)
	if err != nil {
		return other, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if out.EndAt != 0 && (out.EndAt <= s.play.before || out.EndAt > s.play.after) {
		return fmt.Sprintf("the cut card lay at place %d, and it was told otherwise", out.EndAt), nil
	}
	values := out.Values
	if ctx.Parent != nil {
		if s.parent == nil {
			return "", nil
		}
		values = make([]uint32, len(out.Values))
		for i, x := range out.Values {
			values[i] = s.parent[x]
		}
	}
	if audit.DeckRoot(s.commit.Commitment, context, tape, values) != tlog.Hash(s.commit.DeckRoot) {
		return "the tape leads to another order than the one committed to", nil
	}
	for position, value := range s.play.values {
		if values[position] != value {
			return fmt.Sprintf("the tape has another card at position %d than was dealt", position), nil
		}
	}
	s.all = values
	return "", nil
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
		out[s.play.order.Position(place)] = true
	}
	positions := make([]int, 0, s.Places())
	for p := range s.Places() {
		if !out[p] {
			positions = append(positions, p)
		}
	}
	return positions, nil
}
