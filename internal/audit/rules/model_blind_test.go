package rules

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"shuffled/internal/audit"
	"shuffled/internal/audit/spec"
	"shuffled/internal/audit/trust"
)

// The rule co_dealer, asked of the whole list of entries.

// pinned returns the newest key entry that names a co-dealer or none, nil before one.
func (m model) pinned() (pin *audit.Key) {
	for _, e := range m {
		if k, ok := e.Body.(*audit.Key); ok && k.Subject == audit.SubjectCoDealer {
			pin = k
		}
	}
	return pin
}

// blind tells whether a plan has a co-dealer.
func blind(ctx *audit.Context) bool {
	return slices.ContainsFunc(ctx.Plan, func(p audit.Planned) bool { return p.Source == 4 })
}

// valued are the sources of a plan that have a value.
func valued(ctx *audit.Context) []audit.Planned {
	return slices.DeleteFunc(slices.Clone(ctx.Plan), func(p audit.Planned) bool { return p.Source == 4 })
}

// refPositionsDeck is the hash of the deck of n positions, sections 3.1 and 3.2.
func refPositionsDeck(n int) []byte {
	deck := spec.Join("shuffled/v1/deck\000", uint16(n))
	for i := range n {
		deck = append(deck, spec.Str8(fmt.Sprint(i))...)
	}
	return spec.Sum(deck)
}

func (m model) badPin(k *audit.Key) bool {
	if k.Origin == "" {
		return false
	}
	p, err := trust.ParsePolicy(k.Policy)
	return k.Origin == m.genesis().Origin || err != nil || m.genesis().Production && p.Overlap() < 1 ||
		m.mingled(k, m.known(audit.SubjectSigning))
}

// mingled: one of these signing keys is the co-dealer's, or that of a witness of its policy.
func (m model) mingled(pin *audit.Key, signing [][32]byte) bool {
	if pin == nil || pin.Origin == "" {
		return false
	}
	for _, line := range strings.Split(string(pin.Policy), "\n") {
		words := strings.Fields(line)
		if len(words) < 2 || words[0] != "log" {
			continue
		}
		public, err := base64.StdEncoding.DecodeString(strings.SplitN(words[1], "+", 3)[2])
		if err != nil || slices.Contains(signing, audit.KeyID(public)) {
			return true
		}
	}
	return slices.Contains(signing, audit.KeyID(pin.Public)) || ownWitness(pin.Policy, m.genesis().Origin, signing)
}

func (m model) badBlindCommit(c *audit.Commit) bool {
	ctx, pin := c.Context, m.pinned()
	all := ctx.IsDraw() || ctx.Recipe.Take == ctx.Recipe.Cards
	switch {
	case ctx.ForLedger != "":
		deck := ctx.IsDraw() || string(ctx.DeckHash[:]) == string(refPositionsDeck(ctx.Recipe.Cards))
		return ctx.ForLedger == m.genesis().Origin || ctx.Parent != nil || len(ctx.Plan) > 0 || ctx.EndAt != 0 ||
			ctx.Recipe.EndHi != 0 || ctx.Terms != nil || c.AskKey != nil || !all || !deck || ctx.Of != 0
	case !blind(ctx):
		return c.AskKey != nil || pin != nil && pin.Every
	}
	return c.AskKey == nil || !soundEdwards(append([]byte{1}, c.AskKey...)) || pin == nil || pin.Origin == "" ||
		pin.Origin != ctx.Plan[0].Origin || ctx.Parent != nil || !all
}

// gave are the positions that the co-dealer gave for a shuffle, each once.
func (m model) gave(id uint64) (values []uint32) {
	positions := m[id].Body.(*audit.Commit).Context.Recipe.Positions()
	for _, i := range m.dealsOf(id) {
		if b := m[i].Body.(*audit.Deal).Blind; b != nil {
			for _, v := range b.Values {
				if int(v) < positions && !slices.Contains(values, v) {
					values = append(values, v)
				}
			}
		}
	}
	return values
}

func (m model) badBlindDeal(ctx *audit.Context, d *audit.Deal) bool {
	order, has := ctx.ForLedger != "", blind(ctx)
	if has != (d.Blind != nil) || order != (d.Asked != nil) {
		return true
	}
	var open []int // places that are not aside
	place := d.First
	for _, r := range d.Runs {
		aside := r.Purpose == audit.PurposeBurn || r.Purpose == audit.PurposeDiscard
		nobodys := r.Recipient == "" && (r.Purpose == audit.PurposeSeat || !r.Public && !aside)
		if (has || order) && (r.Purpose == audit.PurposeOrder || nobodys) {
			return true
		}
		for range r.Count {
			if r.Public || r.Purpose != audit.PurposeBurn && r.Purpose != audit.PurposeDiscard {
				open = append(open, place)
			}
			place++
		}
	}
	if (has || order) && place-d.First > 64 || order && d.Final || has && len(open) != len(d.Blind.Values) ||
		has && badHead(ctx, d.Blind, true) || order && d.Asked.Commit.Index >= d.Asked.Head.Size {
		return true
	}
	if !has {
		return false
	}
	seen := m.gave(d.Shuffle)
	for i, v := range d.Blind.Values {
		if ctx.IsDraw() {
			if v == 0 || v > ctx.Recipe.Ranges[open[i]] {
				return true
			}
			continue
		}
		if int(v) >= ctx.Recipe.Take || slices.Contains(seen, v) {
			return true
		}
		seen = append(seen, v)
	}
	return false
}

// badHead: a checkpoint of the co-dealer covers its commit, and its deal if one is named.
func badHead(ctx *audit.Context, b *audit.Blind, named bool) bool {
	commit := ctx.Plan[slices.IndexFunc(ctx.Plan, func(p audit.Planned) bool { return p.Source == 4 })].Index
	if named && b.Deal.Index <= commit {
		return true
	}
	return b.Head.Size <= max(commit, b.Deal.Index)
}

func (m model) badBlindClose(ctx *audit.Context, c *audit.Close) bool {
	order, has := ctx.ForLedger != "", blind(ctx)
	over := c.Outcome == audit.OutcomeVoid || c.Outcome == audit.OutcomeExpired
	alone := c.Outcome == audit.OutcomeExpired || c.Reason == audit.ReasonTapeLost ||
		c.Outcome == audit.OutcomeVoid && len(m.dealsOf(c.Shuffle)) == 0
	if !has && (c.Reason == audit.ReasonCoDealer || c.Blind != nil) || has && c.Blind == nil &&
		c.Reason != audit.ReasonTapeLost {
		return true
	}
	if c.Follows != nil && (!order || c.Follows.Places != m.dealt(c.Shuffle)) || order && c.Follows == nil && !alone {
		return true
	}
	if c.Blind == nil {
		return false
	}
	named := c.Blind.Deal.Index > 0
	if named && !over || badHead(ctx, c.Blind, named) {
		return true
	}
	return named && m.badUnplayed(ctx, c)
}

// dealt is how many places of a shuffle were dealt.
func (m model) dealt(id uint64) (n int) {
	for _, i := range m.dealsOf(id) {
		n += m[i].Body.(*audit.Deal).Count()
	}
	return n
}

// badUnplayed: values that were not played are as many as places are left at most, and of cards none twice.
func (m model) badUnplayed(ctx *audit.Context, c *audit.Close) bool {
	dealt, values := m.dealt(c.Shuffle), m.gave(c.Shuffle)
	if ctx.IsDraw() {
		return len(c.Blind.Values) > len(ctx.Recipe.Ranges)-dealt
	}
	for _, v := range c.Blind.Values {
		if int(v) >= ctx.Recipe.Take || slices.Contains(values, v) {
			return true
		}
		values = append(values, v)
	}
	return len(c.Blind.Values) > ctx.Recipe.Take-dealt
}
