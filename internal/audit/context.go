package audit

import (
	"fmt"
	"slices"

	"shuffled/internal/shuffle"
)

// algorithm is "shuffled/v1" of package shuffle, in every context.
const algorithm = 1

// sourceLast is the last source that may stand in a plan.
const sourceLast = SourceCoDealer

// Planned is one source of a mix plan.
type Planned struct {
	Source Source
	Slot   [32]byte // SourceSlot: SlotHash of the value
	Chain  [32]byte // SourceBeacon: drand chain hash
	Round  uint64   // SourceBeacon: the round, ≥ 1
	Origin string   // SourceCoDealer: of the co-dealer's ledger
	Index  uint64   // SourceCoDealer: of the co-dealer's commit, in that ledger
	Leaf   [32]byte // SourceCoDealer: leaf hash of that entry
}

// Parent says which positions of an earlier shuffle are shuffled again.
type Parent struct {
	ID        uint64   // the parent's id
	Positions []uint16 // committed positions of the parent, distinct, in input order
}

// Context is what the commitment covers alongside the tape: all that decides how the tape becomes cards, and for whom
// (docs/SPEC.md section 5.2). Serial, index and time are not in it: the sequencer assigns them later.
type Context struct {
	Origin     string
	Genesis    [32]byte // SHA-256 of the genesis entry: origins can be equal, ledgers not
	Production bool
	Table      string
	DeckHash   [32]byte       // of the root ancestor's deck; zero for draws
	Recipe     shuffle.Recipe // cards and take, or ranges; EndLo and EndHi if the cut-card place is drawn
	Of         uint32         // n, of numbers without repeats: the ranges are n, n−1 …; 0 for anything else
	Parent     *Parent        // nil: a fresh deck
	Plan       []Planned      // at most one co-dealer, then slots, at most one beacon, at most one cut
	EndAt      int            // fixed cut-card place 1..take, 0 for none
	Disclosure Disclosure
	Terms      *Terms // nil: nothing says what the values mean
	ForLedger  string // origin of the ledger that this is an order for, whose house deals blind; empty: for none
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

// IsDraw reports whether what is committed is draws, of a draw list or of numbers, and not cards.
func (c *Context) IsDraw() bool { return c.Recipe.Ranges != nil }

// IsNumbers reports whether the draws take numbers without repeats.
func (c *Context) IsNumbers() bool { return c.Of != 0 }

// TakeNumbers makes the context one of m of the numbers 1..n without repeats.
func (c *Context) TakeNumbers(n, m int) (err error) {
	if c.Recipe.Ranges, err = shuffle.NumberRanges(n, m); err == nil {
		c.Of = uint32(n)
	}
	return err
}

const (
	kindCards   = 1
	kindDraws   = 2
	kindNumbers = 3

	endNone  = 0
	endFixed = 1
	endDrawn = 2
)

// Find returns the first source of a kind in the plan; ok is false for none.
func (c *Context) Find(s Source) (p Planned, ok bool) {
	i := slices.IndexFunc(c.Plan, func(p Planned) bool { return p.Source == s })
	if i < 0 {
		return p, false
	}
	return c.Plan[i], true
}

// Beacon returns the beacon of the plan; ok is false if there is none.
func (c *Context) Beacon() (p Planned, ok bool) { return c.Find(SourceBeacon) }

// CoDealer returns the co-dealer's commit that the plan names; ok is false if it names none.
func (c *Context) CoDealer() (p Planned, ok bool) { return c.Find(SourceCoDealer) }

// Mixed returns the sources of the plan that have a value in the mix: all but a co-dealer.
func (c *Context) Mixed() []Planned {
	if _, ok := c.CoDealer(); ok {
		return c.Plan[1:]
	}
	return c.Plan
}

// Encode returns the field that the commitment hashes, as it stands in the entry.
func (c *Context) Encode() []byte {
	k := coder{writing: true, b: make([]byte, 0, 256)}
	c.fields(&k)
	return k.b
}

// ParseContext reads the encoding of a context. The result keeps no part of b.
func ParseContext(b []byte) (*Context, error) {
	c, k := new(Context), &coder{b: b}
	c.fields(k)
	if err := k.end("context"); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *Context) fields(k *coder) {
	k.text("origin", &c.Origin, CheckOrigin)
	k.hash("genesis hash", &c.Genesis)
	k.flag("production", &c.Production)
	k.name("table", &c.Table)
	is := uint8(algorithm)
	k.known("algorithm", &is, algorithm)
	c.recipe(k)
	child := c.Parent != nil
	if k.flag("parent", &child); child {
		if !k.writing {
			c.Parent = new(Parent)
		}
		c.parent(k)
	}
	c.plan(k)
	c.endAt(k)
	code(k, "disclosure", &c.Disclosure, &codesOfDisclosure)
	k.extended(&c.Extensions, &codesOfContextExtension, field(contextTerms, "terms", &c.Terms),
		extension{contextForLedger, "ledger that the order is for", c.ForLedger != "", func(k *coder) {
			k.text("ledger that the order is for", &c.ForLedger, CheckOrigin)
		}})
}

// The extensions of a context.
const (
	contextTerms     = 1
	contextForLedger = 2
)

func (c *Context) recipe(k *coder) {
	kind := uint8(kindCards)
	switch {
	case c.IsNumbers():
		kind = kindNumbers
	case c.IsDraw():
		kind = kindDraws
	}
	switch k.known("kind", &kind, kindNumbers); kind {
	case kindCards:
		k.hash("deck hash", &c.DeckHash)
		k.num("cards", &c.Recipe.Cards)
		k.num("take", &c.Recipe.Take)
	case kindDraws:
		n := k.count16("ranges", len(c.Recipe.Ranges))
		if !k.writing {
			c.Recipe.Ranges = []uint32{}
		}
		list(k, n, &c.Recipe.Ranges, func(max, _ *uint32) { k.u32("range", max) })
	case kindNumbers:
		n, m := c.Of, len(c.Recipe.Ranges)
		k.u32("numbers", &n)
		if k.num("take", &m); k.err == nil && !k.writing {
			if err := c.TakeNumbers(int(n), m); err != nil {
				k.fail("recipe", err.Error())
			}
		}
	}
	c.checkRecipe(k)
}

// checkRecipe checks what was read of the recipe so far.
func (c *Context) checkRecipe(k *coder) {
	if k.err != nil || k.writing {
		return
	}
	if err := c.Recipe.Validate(); err != nil {
		k.fail("recipe", err.Error())
	}
}

func (c *Context) parent(k *coder) {
	k.u64("parent", &c.Parent.ID)
	n := k.count16("parent positions", len(c.Parent.Positions))
	if c.IsDraw() || n != c.Recipe.Cards {
		k.fail("parent positions", "one for each card that is shuffled again")
	}
	seen := make(map[uint16]bool)
	list(k, n, &c.Parent.Positions, func(pos, _ *uint16) {
		if k.u16("parent position", pos); k.writing {
			return
		}
		if seen[*pos] {
			k.fail("parent positions", fmt.Sprintf("position %d stands twice", *pos))
		}
		seen[*pos] = true
	})
}

func (c *Context) plan(k *coder) {
	n := k.count8("mix plan", len(c.Plan))
	k.within("mix plan", n, 0, MaxSources, "at most %d sources")
	slots := make(map[[32]byte]bool)
	list(k, n, &c.Plan, func(p, before *Planned) {
		code(k, "mix source", &p.Source, &codesOfSource)
		// A co-dealer, slots, a beacon, a cut: one order, one encoding.
		if before != nil && (p.rank() < before.rank() || p.Source == before.Source && p.Source != SourceSlot) {
			k.fail("mix plan", "at most one co-dealer comes first, then slots, at most one beacon, at most one cut")
		}
		switch p.Source {
		case SourceSlot:
			k.hash("slot", &p.Slot)
			if slots[p.Slot] {
				k.fail("mix plan", "the same slot twice")
			}
			slots[p.Slot] = true
		case SourceBeacon:
			k.hash("beacon chain", &p.Chain)
			if k.u64("beacon round", &p.Round); p.Round == 0 {
				k.fail("beacon round", "counts from 1")
			}
		case SourceCut:
			if c.IsDraw() {
				k.fail("mix plan", "draws have no cut")
			}
		case SourceCoDealer:
			count := uint8(1) // it has room for more than one co-dealer
			k.known("co-dealers", &count, 1)
			k.text("co-dealer's origin", &p.Origin, CheckOrigin)
			k.u64("co-dealer's commit", &p.Index)
			k.hash("leaf hash of the co-dealer's commit", &p.Leaf)
		}
	})
}

// rank orders the sources of a plan: a co-dealer comes first.
func (p *Planned) rank() Source {
	if p.Source == SourceCoDealer {
		return 0
	}
	return p.Source
}

func (c *Context) endAt(k *coder) {
	kind := uint8(endNone)
	switch {
	case c.Recipe.EndHi != 0:
		kind = endDrawn
	case c.EndAt != 0:
		kind = endFixed
	}
	switch k.u8("end_at", &kind); kind {
	case endNone:
	case endFixed:
		if k.num("end_at", &c.EndAt); c.EndAt < 1 || c.EndAt > c.Recipe.Take {
			k.fail("end_at", "from 1 to the cards taken")
		}
	case endDrawn:
		k.num("end_at", &c.Recipe.EndLo)
		k.num("end_at", &c.Recipe.EndHi)
		if c.Recipe.EndLo == 0 && c.Recipe.EndHi == 0 {
			k.fail("end_at", "from 1 to the cards taken")
		}
		c.checkRecipe(k)
	default:
		k.unknown("end_at", uint64(kind))
	}
}
