package inspecttest

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/beacon/beacontest"
	"shuffled/internal/disclosure"
	"shuffled/internal/shuffle"
)

// Shuffle is one shuffle of a Ledger.
type Shuffle struct {
	l      *Ledger
	ID     uint64
	Commit *audit.Commit
	Tape   []byte
	Values []uint32   // by position
	Slots  [][32]byte // what the players gave, by their order in the plan
	Light  [48]byte   // the beacon's value; zero: some bytes, of a chain that nobody knows
	next   int
	child  bool
}

// Wish changes a commit before it is written. The tape may be changed, too: the
// commitment and the deck root are made from it after all wishes but Forge's.
type Wish func(*Shuffle)

var (
	standard, _  = shuffle.Named("standard-52")
	standardHash = standard.Hash()
)

// Commit writes a commit of a table: 52 cards unless wishes say otherwise.
func (l *Ledger) Commit(table string, wishes ...Wish) *Shuffle {
	s := l.draft(table, wishes)
	s.seal()
	return s.write()
}

// Forge is Commit with changes after commitment and deck root were made.
func (l *Ledger) Forge(table string, forge Wish, wishes ...Wish) *Shuffle {
	s := l.draft(table, wishes)
	s.seal()
	forge(s)
	return s.write()
}

func (l *Ledger) draft(table string, wishes []Wish) *Shuffle {
	c := &audit.Commit{Context: &audit.Context{Origin: l.origin, Genesis: l.State.GenesisHash(),
		Production: l.State.Genesis().Production, Table: table,
		DeckHash: standardHash, Recipe: shuffle.Recipe{Cards: 52, Take: 52}, Disclosure: l.State.Genesis().Disclosure},
		CloseBy: l.Now + 3_600_000, GameRef: "game-1", Request: [32]byte(l.Bytes(32)), Instance: 1}
	last := l.serials[table]
	c.Serial, c.Previous = last[0]+1, last[1]
	copy(c.KeyTag[6:], l.Bytes(26))
	s := &Shuffle{l: l, Commit: c}
	for _, w := range wishes {
		w(s)
	}
	if s.Tape == nil {
		s.Tape = l.Bytes(c.Context.Recipe.TapeLen())
	}
	return s
}

// seal makes commitment and deck root.
func (s *Shuffle) seal() {
	c := s.Commit
	c.Commitment = openings.Commitment(c.Context.Encode(), s.Tape)
	if s.Values == nil {
		out, err := c.Context.Recipe.Run(s.Tape)
		must(err)
		s.Values = out.Values
	} else { // a child's inputs stand in Values
		out, err := c.Context.Recipe.Run(s.Tape)
		must(err)
		parent := s.Values
		s.Values, err = openings.ChildValues(parent, c.Context.Parent.Positions, out.Values)
		must(err)
	}
	s.Root()
}

// Root makes the deck root of the values by position.
func (s *Shuffle) Root() {
	c := s.Commit
	c.DeckRoot = openings.DeckRoot(c.Commitment, c.Context.Encode(), s.Tape, s.Values)
}

func (s *Shuffle) write() *Shuffle {
	ctx := s.Commit.Context
	if !ctx.IsDraw() && ctx.DeckHash == standardHash {
		s.l.Deck(standard)
	}
	s.ID = s.l.Append(s.Commit)
	s.l.serials[ctx.Table] = [2]uint64{s.Commit.Serial, s.ID}
	return s
}

// Of makes the commit one of n cards of a deck, m of them taken.
func Of(d shuffle.Deck, m int) Wish {
	return func(s *Shuffle) {
		s.Commit.Context.DeckHash = s.l.Deck(d)
		s.Commit.Context.Recipe = shuffle.Recipe{Cards: d.Len(), Take: m}
	}
}

// Draws makes it one of a draw list.
func Draws(ranges ...uint32) Wish {
	return func(s *Shuffle) {
		s.Commit.Context.DeckHash = [32]byte{}
		s.Commit.Context.Recipe = shuffle.Recipe{Ranges: ranges}
	}
}

// Numbers makes it one of m of the numbers 1..n.
func Numbers(n, m int) Wish {
	return func(s *Shuffle) {
		s.Commit.Context.DeckHash, s.Commit.Context.Recipe = [32]byte{}, shuffle.Recipe{}
		must(s.Commit.Context.TakeNumbers(n, m))
	}
}

// Bound binds it to terms.
func Bound(to *audit.Terms) Wish { return func(s *Shuffle) { s.Commit.Context.Terms = to } }

// ForAuditors discloses the tape to auditors only.
func ForAuditors(s *Shuffle) { s.Commit.Context.Disclosure = audit.DisclosureAuditor }

// Mixed plans slots of players and, if cut, a cut; round > 0 a beacon as well.
func Mixed(slots int, round uint64, cut bool) Wish {
	return func(s *Shuffle) {
		ctx := s.Commit.Context
		for range slots {
			r := [32]byte(s.l.Bytes(32))
			s.Slots = append(s.Slots, r)
			ctx.Plan = append(ctx.Plan, audit.Planned{Source: audit.SourceSlot,
				Slot: audit.SlotHash(s.l.origin, ctx.Table, r)})
		}
		if round > 0 {
			ctx.Plan = append(ctx.Plan, audit.Planned{Source: audit.SourceBeacon, Chain: sha256.Sum256([]byte("chain")),
				Round: round})
		}
		if cut {
			ctx.Plan = append(ctx.Plan, audit.Planned{Source: audit.SourceCut})
		}
	}
}

// Round is the round of quicknet that Quicknet plans. It is published, and a ledger
// that plans it begins before it came out.
var Round = beacontest.Newest()

// Quicknet puts a round of drand's quicknet into the plan, in front of a cut.
func Quicknet(s *Shuffle) {
	ctx := s.Commit.Context
	at := len(ctx.Plan)
	if at > 0 && ctx.Plan[at-1].Source == audit.SourceCut {
		at--
	}
	ctx.Plan = slices.Insert(ctx.Plan, at,
		audit.Planned{Source: audit.SourceBeacon, Chain: audit.Quicknet, Round: Round.Round})
	s.Light = Round.Signature
}

// Blind names an order of the co-dealer that the ledger pinned.
func Blind(s *Shuffle) {
	ctx := s.Commit.Context
	ctx.Plan = slices.Insert(ctx.Plan, 0, audit.Planned{Source: audit.SourceCoDealer, Origin: CoDealer, Index: 7,
		Leaf: [32]byte(s.l.Bytes(32))})
	s.Commit.AskKey = Public(Key("ask"))[1:]
}

// CoDealer is the origin of a co-dealer's ledger.
const CoDealer = "lab.example/orders"

// PinCoDealer lets commits name orders of CoDealer.
func (l *Ledger) PinCoDealer() {
	k := &audit.Key{Subject: audit.SubjectCoDealer, Origin: CoDealer, Public: Public(Key("co-dealer")),
		Policy: Policy(false, 2, "w1", "w2", "w3")}
	l.Approve(audit.Daemon.Identity, k)
	l.Append(k)
}

// ChildOf makes it a child of the parent's positions, which are shuffled again.
func ChildOf(parent *Shuffle, positions ...uint16) Wish {
	return func(s *Shuffle) {
		ctx := s.Commit.Context
		ctx.Parent = &audit.Parent{ID: parent.ID, Positions: positions}
		ctx.DeckHash = parent.Commit.Context.DeckHash
		ctx.Recipe = shuffle.Recipe{Cards: len(positions), Take: len(positions)}
		s.Values, s.child = parent.Values, true
	}
}

// Mix reveals the plan. size is the newest checkpoint's, 0 for that behind the commit.
func (s *Shuffle) Mix(size uint64) {
	m := &audit.Mix{Shuffle: s.ID, Checkpoint: s.under(size)}
	for i, p := range s.Commit.Context.Mixed() {
		v := audit.MixValue{Source: p.Source}
		switch p.Source {
		case audit.SourceSlot:
			v.Slot = s.Slots[i]
		case audit.SourceBeacon:
			if v.Beacon = s.Light; v.Beacon == [48]byte{} {
				copy(v.Beacon[:], s.l.Bytes(48))
			}
		case audit.SourceCut:
			v.Cut = uint16(binary.BigEndian.Uint16(s.l.Bytes(2)) % uint16(s.Commit.Context.Recipe.Positions()))
		}
		m.Values = append(m.Values, v)
	}
	s.l.Append(m)
}

// under is the size of a checkpoint, by default of the first that covers the commit.
func (s *Shuffle) under(size uint64) uint64 {
	if size == 0 {
		return s.ID + 1
	}
	return size
}

// Deal deals n cards to seat-1 under a checkpoint of this size, 0 for that behind the commit.
func (s *Shuffle) Deal(n int, size uint64) {
	s.l.Append(s.dealt(n, size, false))
}

// Last deals n cards and closes.
func (s *Shuffle) Last(n int, size uint64) {
	s.l.Append(s.dealt(n, size, true))
	s.Close(audit.OutcomeCompleted, audit.ReasonNone)
}

func (s *Shuffle) dealt(n int, size uint64, final bool) *audit.Deal {
	d := &audit.Deal{Shuffle: s.ID, First: s.next, Checkpoint: s.under(size), Final: final,
		Runs: []audit.Run{{Count: n, Purpose: audit.PurposeSeat, Recipient: "seat-1",
			Public: s.Commit.Context.IsNumbers()}}}
	if _, ok := s.Commit.Context.CoDealer(); ok {
		d.Blind = &audit.Blind{Deal: audit.Foreign{Index: 8, Leaf: [32]byte(s.l.Bytes(32))}, Head: audit.Head{Size: 9}}
		for i := range n {
			d.Blind.Values = append(d.Blind.Values, uint32(s.next+i))
		}
	}
	s.next += n
	return d
}

// Close ends the shuffle and discloses its tape as the commit declared.
func (s *Shuffle) Close(o audit.Outcome, r audit.Reason) uint64 { return s.l.Append(s.Closing(o, r)) }

// Disclose discloses the tape of a shuffle that was continued, as its commit declared.
func (s *Shuffle) Disclose() uint64 {
	c := s.Closing(audit.OutcomeCompleted, audit.ReasonNone)
	return s.l.Append(&audit.DisclosureEntry{Shuffle: s.ID, Form: c.Form, Tape: c.Tape, Key: c.Key})
}

// Closing is the body of the close, to be changed.
func (s *Shuffle) Closing(o audit.Outcome, r audit.Reason) *audit.Close {
	c := &audit.Close{Shuffle: s.ID, Outcome: o, Reason: r, Form: audit.FormTape, Tape: s.Tape}
	if _, ok := s.Commit.Context.CoDealer(); ok {
		c.Blind = &audit.Blind{Head: audit.Head{Size: 9}}
	}
	if r == audit.ReasonTapeLost || o == audit.OutcomeContinued {
		c.Form, c.Tape = audit.FormNone, nil
	} else if s.Commit.Context.Disclosure == audit.DisclosureAuditor {
		index, public, _, _ := s.l.State.DisclosureKey()
		sealed, err := disclosure.Seal(public, s.l.origin, s.ID, s.Commit.Commitment, s.Tape)
		must(err)
		c.Form, c.Key, c.Tape = audit.FormSealed, index, sealed
	}
	return c
}

// Auditor is the one auditor of ledgers here.
func Auditor() *disclosure.Auditor { return AuditorNamed("auditor") }

// AuditorNamed is another one.
func AuditorNamed(name string) *disclosure.Auditor {
	seed := sha256.Sum256([]byte("inspecttest " + name))
	a, err := disclosure.NewAuditor(append([]byte{audit.KeyHybrid}, seed[:]...))
	if err != nil {
		panic(err)
	}
	return a
}

// Disclosure writes a disclosure key for the auditors in force.
func (l *Ledger) Disclosure() uint64 {
	k, err := disclosure.Body(l.origin, l.State.AuditorKeys())
	must(err)
	return l.Append(k)
}
