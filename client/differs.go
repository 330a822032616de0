package client

import (
	"fmt"
	"slices"

	"shuffled/internal/audit"
	"shuffled/internal/shuffle"
)

// terms are what both kinds of request say beside their cards or values.
type terms struct {
	table, key string
	i          int // which commit under the key, from 0
	mix        *MixPlan
	disclosure *Disclosure
	closeBy    *Timestamp
	gameRef    *Name
}

// differs says where the commit is not what was asked for, or "".
func (s *Committed) differs(t terms) string {
	ctx := s.commit.Context
	switch {
	case ctx.Table != t.table:
		return "it is at another table"
	case s.commit.KeyTag != audit.KeyTagOf(ctx.Origin, s.by.Identity, t.table, t.key, t.i):
		return "it is under another idempotency key"
	case !asPlanned(t.mix, ctx.Plan):
		return "its mix plan is another one"
	case t.disclosure != nil && ctx.Disclosure.String() != string(*t.disclosure):
		return "it is disclosed to others"
	case t.closeBy != nil && s.commit.CloseBy != t.closeBy.UnixMilli():
		return "it is to be closed at another time"
	case s.commit.GameRef != deref(t.gameRef):
		return "it is of another game"
	}
	return ""
}

// asPlanned reports whether a commit has the plan that was asked for. A round that
// the request left open is any.
func asPlanned(asked *MixPlan, plan []audit.Planned) bool {
	if asked == nil {
		return len(plan) == 0
	}
	var want []audit.Planned
	for _, h := range asked.Slots {
		want = append(want, audit.Planned{Source: audit.SourceSlot, Slot: h})
	}
	if b := asked.Beacon; b != nil {
		p := audit.Planned{Source: audit.SourceBeacon, Chain: audit.Quicknet, Round: deref(b.Round)}
		if i := len(want); b.Round == nil && i < len(plan) {
			p.Round = plan[i].Round
		}
		want = append(want, p)
	}
	if asked.Cut != nil {
		want = append(want, audit.Planned{Source: audit.SourceCut})
	}
	return slices.Equal(want, plan)
}

// differsInCards says where the cards of the commit are not those asked for, or
// "".
func (s *Committed) differsInCards(req *ShuffleRequest, parent *Committed) string {
	ctx := s.commit.Context
	n, hash := 0, [32]byte{}
	if parent == nil {
		deck, ok := requested(req.Deck, req.Cards)
		if !ok {
			return "it is of a deck that there is not"
		}
		n, hash = deck.Len(), deck.Hash()
	} else {
		if ctx.Parent == nil || ctx.Parent.ID != parent.ID || parent.ID >= s.ID {
			return "its parent is another one"
		}
		n, hash = len(ctx.Parent.Positions), parent.commit.Context.DeckHash
		if what := parent.gave(ctx.Parent.Positions, req.Parent.Positions); what != "" {
			return what
		}
	}
	endLo, endHi := ctx.EndAt, ctx.EndAt
	if ctx.Recipe.EndHi != 0 {
		endLo, endHi = ctx.Recipe.EndLo, ctx.Recipe.EndHi
	}
	switch {
	case ctx.IsDraw() || parent == nil && ctx.Parent != nil:
		return "it is no shuffle of fresh cards"
	case ctx.DeckHash != hash || ctx.Recipe.Cards != n:
		return "it is of another deck"
	case req.Take != nil && ctx.Recipe.Take != *req.Take, req.Take == nil && ctx.Recipe.Take != n:
		return "it takes another number of cards"
	case req.EndAt != nil && (EndAt{endLo, endHi}) != *req.EndAt, req.EndAt == nil && endHi != 0:
		return "its cut card is elsewhere"
	}
	return ""
}

// gave says why these are not the positions of the parent that were asked for, or
// "". Without a list they are those of all places from some next one on: others
// may have dealt since this client saw the parent.
func (s *Committed) gave(got []uint16, asked []int) string {
	const what = "it is of other cards of its parent"
	if asked != nil {
		same := slices.EqualFunc(got, asked, func(a uint16, b int) bool { return int(a) == b })
		if !same {
			return what
		}
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	first := s.Places() - len(got)
	if first < s.play.next || !s.play.ordered {
		return what
	}
	left := make([]uint16, 0, len(got))
	for place := first; place < s.Places(); place++ {
		left = append(left, uint16(s.play.order.Position(place)))
	}
	slices.Sort(left)
	if !slices.Equal(left, got) {
		return what
	}
	return ""
}

// differsInDraws says where the draws of the commit are not those asked for, or
// "". labels are those of numbers or a wheel.
func (s *Committed) differsInDraws(req *DrawsRequest, labels []string) string {
	ctx := s.commit.Context
	if ctx.Parent != nil || ctx.EndAt != 0 || ctx.Recipe.EndHi != 0 {
		return "it is no draw"
	}
	if labels == nil {
		if !ctx.IsDraw() || !slices.Equal(ctx.Recipe.Ranges, req.Ranges) {
			return "its ranges are others"
		}
		return ""
	}
	take := 1
	if req.Numbers != nil {
		take = req.Numbers.Take
	}
	deck, err := shuffle.NewDeck(labels)
	if err != nil || ctx.DeckHash != deck.Hash() || ctx.Recipe.Cards != deck.Len() || ctx.Recipe.Take != take {
		return "its numbers or stops are others"
	}
	return ""
}

// misstated says where a state is not what the commit says, or "".
func (s *Committed) misstated(state *ShuffleState) string {
	ctx, r := s.commit.Context, s.commit.Context.Recipe
	end := EndAt{ctx.EndAt, ctx.EndAt}
	if r.EndHi != 0 {
		end = EndAt{r.EndLo, r.EndHi}
	}
	hash, parent, previous := Hash(ctx.DeckHash), uint64(0), s.commit.Previous
	if ctx.Parent != nil {
		parent = ctx.Parent.ID
	}
	wrong := func(name string) string { return fmt.Sprintf("its %s is not the one in the commit", name) }
	switch {
	case state.Production != ctx.Production:
		return wrong("production")
	case string(state.Disclosure) != ctx.Disclosure.String():
		return wrong("disclosure")
	case deref(state.GameRef) != s.commit.GameRef || (state.GameRef != nil) != (s.commit.GameRef != ""):
		return wrong("game_ref")
	case deref(state.DeckHash) != hash || (state.DeckHash == nil) != ctx.IsDraw():
		return wrong("deck_hash")
	case state.Cards != r.Cards || state.Places != r.Positions() || !slices.Equal(state.Ranges, r.Ranges):
		return wrong("number of cards or values")
	case deref(state.Parent) != parent || (state.Parent == nil) != (ctx.Parent == nil):
		return wrong("parent")
	case deref(state.EndAt) != end || (state.EndAt == nil) != (end.Hi == 0):
		return wrong("end_at")
	case deref(state.Previous) != previous || (state.Previous == nil) != (previous == 0):
		return wrong("previous")
	case state.CommittedAt.UnixMilli() != s.at:
		return wrong("committed_at")
	case (state.Mixed == nil) != (len(ctx.Plan) == 0):
		return wrong("plan")
	case (state.LastHand == nil) != (end.Hi == 0), state.Next < 0 || state.Next > s.Places():
		return wrong("end_at or next")
	case state.LastHand != nil && !s.play.cut(state.Next, *state.LastHand):
		return "the cut card has not come out, or has and was not told"
	}
	return halfTold(state)
}

// halfTold says where a state's members do not go together, or "".
func halfTold(state *ShuffleState) string {
	closed := state.State == ShuffleStateStateClosed
	switch {
	case !closed && state.State != ShuffleStateStateOpen && state.State != ShuffleStateStateOverdue:
		return "there is no such state"
	case closed != (state.ClosedAt != nil), closed != (state.Outcome != nil), (deref(state.Outcome) == OutcomeVoid) != (state.Reason != nil):
		return "its end is half told"
	}
	return ""
}
