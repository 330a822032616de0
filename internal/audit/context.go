package audit

import (
	"fmt"
	"slices"

	"shuffled/internal/shuffle"
)

// algorithm is "shuffled/v1" of package shuffle, in every context.
const algorithm = 1

// sourceLast is the last source that may stand in a plan; they stand in the order of their codes.
const sourceLast = SourceCut

// Planned is one source of a mix plan.
type Planned struct {
	Source Source
	Slot   [32]byte // SourceSlot: SlotHash of the value
	Chain  [32]byte // SourceBeacon: drand chain hash
	Round  uint64   // SourceBeacon: the round, ≥ 1
}

// Parent says which positions of an earlier shuffle are shuffled again.
type Parent struct {
	ID        uint64   // the parent's id
	Positions []uint16 // committed positions of the parent, distinct, in input order
}

// Context is what the commitment covers beside the tape: all that decides how
// the tape becomes cards, and for whom (docs/SPEC.md section 5.2). Serial, index
// and time are not in it: the sequencer assigns them later.
type Context struct {
	Origin     string
	Production bool
	Table      string
	DeckHash   [32]byte       // of the root ancestor's deck; zero for a draw list
	Recipe     shuffle.Recipe // cards and take, or ranges; its EndLo, EndHi are those of EndAt
	Parent     *Parent        // nil: a fresh deck
	Plan       []Planned      // slots, then at most one beacon, then at most one cut
	EndAt      int            // fixed cut-card place 1..take, 0 for none; a drawn one is in Recipe
	Disclosure Disclosure
	Extensions []Extension
}

// Slots returns the slot hashes of the plan, in its order; nil for none.
func (c *Context) Slots() (slots [][32]byte) {
	for _, p := range c.Plan {
		if p.Source == SourceSlot {
			slots = append(slots, p.Slot)
		}
	}
	return slots
}

// IsDraw reports whether the context is of a draw list, not of cards.
func (c *Context) IsDraw() bool { return c.Recipe.Ranges != nil }

const (
	kindCards = 1
	kindDraws = 2

	endNone  = 0
	endFixed = 1
	endDrawn = 2
)

// Beacon returns the beacon of the plan; ok is false when there is none.
func (c *Context) Beacon() (p Planned, ok bool) {
	i := slices.IndexFunc(c.Plan, func(p Planned) bool { return p.Source == SourceBeacon })
	if i < 0 {
		return Planned{}, false
	}
	return c.Plan[i], true
}

// Encode returns the field that the commitment hashes, as it stands in the entry.
func (c *Context) Encode() []byte {
	w := writer{b: make([]byte, 0, 256)}
	c.encode(&w)
	return w.b
}

func (c *Context) encode(w *writer) {
	w.str(c.Origin)
	w.flag(c.Production)
	w.str(c.Table)
	w.u8(algorithm)
	c.encodeRecipe(w)
	if c.Parent == nil {
		w.flag(false)
	} else {
		w.flag(true)
		w.u64(c.Parent.ID)
		w.n16(len(c.Parent.Positions))
		for _, p := range c.Parent.Positions {
			w.u16(p)
		}
	}
	w.n8(len(c.Plan))
	for _, p := range c.Plan {
		p.encode(w)
	}
	c.encodeEndAt(w)
	w.u8(uint8(c.Disclosure))
	w.extensions(c.Extensions)
}

func (c *Context) encodeRecipe(w *writer) {
	if c.IsDraw() {
		w.u8(kindDraws)
		w.n16(len(c.Recipe.Ranges))
		for _, k := range c.Recipe.Ranges {
			w.u32(k)
		}
		return
	}
	w.u8(kindCards)
	w.raw(c.DeckHash[:])
	w.n16(c.Recipe.Cards)
	w.n16(c.Recipe.Take)
}

func (c *Context) encodeEndAt(w *writer) {
	switch {
	case c.Recipe.EndHi != 0:
		w.u8(endDrawn)
		w.n16(c.Recipe.EndLo)
		w.n16(c.Recipe.EndHi)
	case c.EndAt != 0:
		w.u8(endFixed)
		w.n16(c.EndAt)
	default:
		w.u8(endNone)
	}
}

func (p Planned) encode(w *writer) {
	w.u8(uint8(p.Source))
	switch p.Source {
	case SourceSlot:
		w.raw(p.Slot[:])
	case SourceBeacon:
		w.raw(p.Chain[:])
		w.u64(p.Round)
	}
}

// ParseContext reads the encoding of a context. The result keeps no part of b.
func ParseContext(b []byte) (*Context, error) {
	return parseContext(&reader{s: b})
}

func parseContext(r *reader) (*Context, error) {
	c := new(Context)
	c.Origin = r.checked("origin", CheckOrigin)
	c.Production = r.flag("production")
	c.Table = r.name("table")
	r.known("algorithm", algorithm)
	c.parseRecipe(r)
	if r.flag("parent") {
		c.parseParent(r)
	}
	c.parsePlan(r)
	c.parseEndAt(r)
	c.Disclosure = Disclosure(r.code("disclosure", &codesOfDisclosure))
	c.Extensions = r.extensions(&codesOfContextExtension)
	if err := r.end("context"); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *Context) parseRecipe(r *reader) {
	switch r.known("kind", kindDraws) {
	case kindCards:
		c.DeckHash = r.hash("deck hash")
		c.Recipe.Cards = int(r.u16("cards"))
		c.Recipe.Take = int(r.u16("take"))
	case kindDraws:
		n := int(r.u16("ranges"))
		c.Recipe.Ranges = []uint32{}
		for i := 0; i < n && r.err == nil; i++ {
			c.Recipe.Ranges = append(c.Recipe.Ranges, r.u32("range"))
		}
	}
	c.checkRecipe(r)
}

// checkRecipe is for what has been read of the recipe so far.
func (c *Context) checkRecipe(r *reader) {
	if r.err != nil {
		return
	}
	if err := c.Recipe.Validate(); err != nil {
		r.fail("recipe", err.Error())
	}
}

func (c *Context) parseParent(r *reader) {
	p := &Parent{ID: r.u64("parent")}
	n := int(r.u16("parent positions"))
	if c.IsDraw() || n != c.Recipe.Cards {
		r.fail("parent positions", "one for each card that is shuffled again")
	}
	seen := make(map[uint16]bool)
	for i := 0; i < n && r.err == nil; i++ {
		pos := r.u16("parent position")
		if seen[pos] {
			r.fail("parent positions", fmt.Sprintf("position %d stands twice", pos))
		}
		seen[pos] = true
		p.Positions = append(p.Positions, pos)
	}
	c.Parent = p
}

func (c *Context) parsePlan(r *reader) {
	n := int(r.u8("mix plan"))
	if n > MaxSources {
		r.fail("mix plan", fmt.Sprintf("at most %d sources", MaxSources))
	}
	slots := make(map[[32]byte]bool)
	for i := 0; i < n && r.err == nil; i++ {
		p := Planned{Source: Source(r.code("mix source", &codesOfSource))}
		switch p.Source {
		case SourceSlot:
			p.Slot = r.hash("slot")
			if slots[p.Slot] {
				r.fail("mix plan", "the same slot twice")
			}
			slots[p.Slot] = true
		case SourceBeacon:
			p.Chain = r.hash("beacon chain")
			if p.Round = r.u64("beacon round"); p.Round == 0 {
				r.fail("beacon round", "counts from 1")
			}
		case SourceCut:
			if c.IsDraw() {
				r.fail("mix plan", "a draw list has no cut")
			}
		}
		// Slots, then one beacon, then one cut: one order, one encoding.
		if i > 0 && (p.Source < c.Plan[i-1].Source || p.Source == c.Plan[i-1].Source && p.Source != SourceSlot) {
			r.fail("mix plan", "slots come first, then at most one beacon, then at most one cut")
		}
		c.Plan = append(c.Plan, p)
	}
}

func (c *Context) parseEndAt(r *reader) {
	switch kind := r.u8("end_at"); kind {
	case endNone:
	case endFixed:
		if c.EndAt = int(r.u16("end_at")); c.EndAt < 1 || c.EndAt > c.Recipe.Take {
			r.fail("end_at", "from 1 to the cards taken")
		}
	case endDrawn:
		c.Recipe.EndLo = int(r.u16("end_at"))
		c.Recipe.EndHi = int(r.u16("end_at"))
		if c.Recipe.EndLo == 0 && c.Recipe.EndHi == 0 {
			r.fail("end_at", "from 1 to the cards taken")
		}
		c.checkRecipe(r)
	default:
		r.unknown("end_at", uint64(kind))
	}
}
