package rules

import (
	"crypto/elliptic"
	"encoding/base64"
	"encoding/hex"
	"math/big"
	"reflect"
	"slices"
	"strings"

	"shuffled/internal/audit"
	"shuffled/internal/audit/spec"
	"shuffled/internal/audit/trust"
)

// model is docs/SPEC.md section 9 once more: every rule is a question to the
// whole list of entries below, asked anew each time. It remembers nothing.
type model []audit.Entry

const holds = "ok"

// rule returns the code of the first rule that e breaks as the next entry, or holds.
func (m model) rule(e audit.Entry) string {
	_, isGenesis := e.Body.(*audit.Genesis)
	switch {
	case isGenesis != (len(m) == 0):
		return "genesis_first"
	case isGenesis:
		return m.genesisRule(e.Body.(*audit.Genesis))
	case e.Time < m[len(m)-1].Time:
		return "time"
	case m.breaksPair(e):
		return "pair"
	case !m.approves(e):
		return "two_persons"
	case !m.holds(e):
		return "credential"
	}
	switch b := e.Body.(type) {
	case *audit.Commit:
		return m.commitRule(b, e)
	case *audit.Mix:
		return m.mixRule(b, e)
	case *audit.Deal:
		return m.dealRule(b, e)
	case *audit.Close:
		return m.closeRule(b, e)
	case *audit.Takeover:
		return m.takeoverRule(b, e.Actor)
	case *audit.Credential:
		return m.credentialRule(b)
	case *audit.ActEntry:
		return m.actRule(b, e.Time)
	case *audit.Reveal:
		return m.revealRule(b, e)
	case *audit.DisclosureEntry:
		return m.disclosureRule(b)
	case *audit.Key:
		return m.keyRule(b)
	case *audit.Event:
		return m.eventRule(b)
	}
	return holds // of a type that is passed over
}

// first is the name of the first broken rule in a list of rule, broken, rule,
// broken …; each is asked only when those before it hold.
func first(rules ...any) string {
	for i := 0; i < len(rules); i += 2 {
		if rules[i+1].(func() bool)() {
			return rules[i].(string)
		}
	}
	return holds
}

// all returns the indexes of the entries that are a B for which is holds.
func all[B audit.Body](m model, is func(B) bool) (indexes []uint64) {
	for i, e := range m {
		if b, ok := e.Body.(B); ok && is(b) {
			indexes = append(indexes, uint64(i))
		}
	}
	return indexes
}

func any1[B audit.Body](m model, is func(B) bool) bool { return len(all(m, is)) > 0 }

func (m model) genesis() *audit.Genesis { return m[0].Body.(*audit.Genesis) }

func (m model) genesisHash() [32]byte { return [32]byte(spec.Sum(refBytes(m[0]))) }

// breaksPair looks at the entry right below only.
func (m model) breaksPair(e audit.Entry) bool {
	c, isClose := e.Body.(*audit.Close)
	r, isReveal := e.Body.(*audit.Reveal)
	switch last := m[len(m)-1].Body.(type) {
	case *audit.ActEntry:
		return !m.below().waits(last) && last.Act != audit.ActCancel && !approvedBy(last, e)
	case *audit.Deal:
		return last.Final && !(isClose && c.Shuffle == last.Shuffle && c.Outcome != audit.OutcomeContinued) &&
			!(isReveal && r.Shuffle == last.Shuffle && r.Final)
	case *audit.Reveal:
		return last.Final && !(isClose && c.Shuffle == last.Shuffle && c.Outcome != audit.OutcomeContinued)
	case *audit.Commit:
		return last.Context.Parent != nil &&
			!(isClose && c.Shuffle == last.Context.Parent.ID && c.Outcome == audit.OutcomeContinued)
	}
	next, by := m.toDisclose()
	d, isDisclosure := e.Body.(*audit.DisclosureEntry)
	return next != 0 && !(isDisclosure && d.Shuffle == next && e.Actor.Identity == by)
}

func (m model) started(index uint64) bool {
	if index >= uint64(len(m)) {
		return false
	}
	e, ok := m[index].Body.(*audit.Event)
	return ok && e.Kind == audit.EventInstanceStart
}

func (m model) latched() (set bool) {
	for _, e := range m {
		if b, ok := e.Body.(*audit.Event); ok && (b.Kind == audit.EventLatchSet || b.Kind == audit.EventLatchClear) {
			set = b.Kind == audit.EventLatchSet
		}
	}
	return set
}

// killed tells whether the switch for the ledger, a table or a deck is set.
func (m model) killed(scope audit.Scope, table string, deck [32]byte) (set bool) {
	for _, e := range m {
		b, ok := e.Body.(*audit.Event)
		if !ok || b.Kind != audit.EventKillSet && b.Kind != audit.EventKillClear || b.Scope != scope ||
			scope == audit.ScopeTable && b.Name != table || scope == audit.ScopeDeck && b.Deck != deck {
			continue
		}
		set = b.Kind == audit.EventKillSet
	}
	return set
}

// open tells whether a table was opened, by an event or by serial 1, and not closed since; known, whether it ever was.
func (m model) table(name string) (open, known bool) {
	for _, e := range m {
		switch b := e.Body.(type) {
		case *audit.Event:
			if (b.Kind == audit.EventTableOpen || b.Kind == audit.EventTableClose) && b.Name == name {
				open, known = b.Kind == audit.EventTableOpen, true
			}
		case *audit.Commit:
			if b.Context.Table == name && b.Serial == 1 {
				open, known = true, true
			}
		}
	}
	return open, known
}

func (m model) commitsAt(table string) []uint64 {
	return all(m, func(c *audit.Commit) bool { return c.Context.Table == table })
}

// keysInForce returns the ids of auditors in force, the index of the newest disclosure key (0 for none), and whether
// auditors changed after it or it was retired.
func (m model) keysInForce() (auditors [][32]byte, disclosure uint64, changed bool) {
	for _, k := range m.genesis().AuditorKeys {
		auditors = append(auditors, audit.KeyID(k))
	}
	for i, e := range m {
		k, ok := e.Body.(*audit.Key)
		switch {
		case !ok:
		case k.Subject == audit.SubjectDisclosure:
			disclosure, changed = uint64(i), false
		case k.Subject == audit.SubjectAuditor:
			auditors, changed = append(auditors, audit.KeyID(k.Public)), true
		case k.Subject == audit.SubjectRetirement && k.Retired == audit.SubjectAuditor:
			at := slices.Index(auditors, k.ID)
			auditors, changed = slices.Delete(slices.Clone(auditors), at, at+1), true
		case k.Subject == audit.SubjectRetirement && k.Retired == audit.SubjectDisclosure && disclosure > 0:
			changed = changed || audit.KeyID(m[disclosure].Body.(*audit.Key).Public) == k.ID
		}
	}
	return auditors, disclosure, changed
}

// known returns the ids of all keys of a subject that ever stood in the ledger.
func (m model) known(subject audit.Subject) (ids [][32]byte) {
	if subject == audit.SubjectSigning {
		ids = append(ids, audit.KeyID(m.genesis().SigningKey))
	}
	if subject == audit.SubjectAuditor {
		for _, k := range m.genesis().AuditorKeys {
			ids = append(ids, audit.KeyID(k))
		}
	}
	for _, e := range m {
		if k, ok := e.Body.(*audit.Key); ok && k.Subject == subject {
			ids = append(ids, audit.KeyID(k.Public))
		}
	}
	return ids
}

func quicknet() (h [32]byte) {
	hex.Decode(h[:], []byte("52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971"))
	return h
}

func (m model) commitRule(c *audit.Commit, e audit.Entry) string {
	ctx, g, now := c.Context, m.genesis(), e.Time
	return first("origin", func() bool {
		return ctx.Origin != g.Origin || ctx.Genesis != m.genesisHash() || ctx.Production != g.Production
	},
		"instance", func() bool { return !m.started(c.Instance) },
		"latch", m.latched,
		"kill", func() bool {
			return m.killed(audit.ScopeLedger, "", [32]byte{}) || m.killed(audit.ScopeTable, ctx.Table, [32]byte{}) ||
				!ctx.IsDraw() && m.killed(audit.ScopeDeck, "", ctx.DeckHash)
		},
		"table", func() bool { open, known := m.table(ctx.Table); return known && !open },
		"serial", func() bool {
			below := m.commitsAt(ctx.Table)
			if len(below) == 0 {
				return c.Serial != 1 || c.Previous != 0
			}
			return c.Serial != uint64(len(below))+1 || c.Previous != below[len(below)-1]
		},
		"close_by", func() bool {
			limit := 1000 * int64(g.MaxCloseBy)
			return c.CloseBy <= now || c.CloseBy-now > limit ||
				ctx.Parent != nil && m.begun(ctx.Parent.ID) && c.CloseBy > m.rootOf(ctx.Parent.ID).Time+limit
		},
		"mix_modes", func() bool {
			return slices.ContainsFunc(ctx.Plan, func(p audit.Planned) bool {
				return !map[audit.Source]bool{audit.SourceSlot: g.MixModes&1 != 0, audit.SourceBeacon: g.MixModes&2 != 0,
					audit.SourceCut: g.MixModes&4 != 0, audit.SourceCoDealer: g.MixModes&8 != 0}[p.Source]
			})
		},
		"beacon", func() bool {
			return slices.ContainsFunc(ctx.Plan, func(p audit.Planned) bool {
				// Round 1 of quicknet came out at 1692803367, one more every 3 s.
				return p.Chain == quicknet() && now >= 1000*(1692803367+3*int64(p.Round-1))
			})
		},
		"disclosure_key", func() bool {
			_, disclosure, changed := m.keysInForce()
			return ctx.Disclosure == audit.DisclosureAuditor && (disclosure == 0 || changed)
		},
		"parent", func() bool {
			if ctx.Parent == nil {
				return false
			}
			p := m.openCommit(ctx.Parent.ID)
			return p == nil || len(m.ancestors(ctx.Parent.ID)) == 7 || now >= p.CloseBy || p.Context.IsDraw() ||
				p.Context.Table != ctx.Table ||
				p.Context.DeckHash != ctx.DeckHash || blind(p.Context) || p.Context.ForLedger != "" ||
				m.aside(ctx.Parent.ID) ||
				slices.ContainsFunc(ctx.Parent.Positions,
					func(pos uint16) bool { return int(pos) >= p.Context.Recipe.Take })
		},
		"terms", func() bool { return m.termsDiffer(ctx) },
		"co_dealer", func() bool { return m.badBlindCommit(c) },
		"owner", func() bool {
			return word(e.Actor.Identity) || ctx.Parent != nil && !m.plays(ctx.Parent.ID, e.Actor.Identity)
		},
	)
}

// termsDiffer tells whether the terms are not those of the parent, or fit no such shuffle.
func (m model) termsDiffer(ctx *audit.Context) bool {
	if ctx.Parent != nil {
		want := m[ctx.Parent.ID].Body.(*audit.Commit).Context.Terms
		return !reflect.DeepEqual(want, ctx.Terms)
	}
	if ctx.Terms == nil || ctx.Terms.Kind == audit.TermsPayTable {
		return false
	}
	if ctx.Terms.Kind == audit.TermsTicketList {
		return ctx.Of == 0 || uint64(ctx.Of) != ctx.Terms.Count
	}
	ranges := slices.Compact(slices.Clone(ctx.Recipe.Ranges))
	return len(ranges) != 1 || ctx.IsNumbers()
}

// openCommit returns the commit at an index if it was not closed, or nil.
func (m model) openCommit(id uint64) *audit.Commit {
	if id >= uint64(len(m)) {
		return nil
	}
	c, ok := m[id].Body.(*audit.Commit)
	if !ok || any1(m, func(c *audit.Close) bool { return c.Shuffle == id }) {
		return nil
	}
	return c
}

// open returns the ids of open shuffles.
func (m model) open() (ids []uint64) {
	for i := range m {
		if m.openCommit(uint64(i)) != nil {
			ids = append(ids, uint64(i))
		}
	}
	return ids
}

// pending tells whether the entry below demands a close.
func (m model) pending() bool {
	switch b := m[len(m)-1].Body.(type) {
	case *audit.Deal:
		return b.Final
	case *audit.Reveal:
		return b.Final
	case *audit.Commit:
		return b.Context.Parent != nil
	case *audit.ActEntry:
		return b.Act != audit.ActCancel && !m.below().waits(b)
	}
	next, _ := m.toDisclose()
	return next != 0
}

func (m model) dealsOf(id uint64) []uint64 {
	return all(m, func(d *audit.Deal) bool { return d.Shuffle == id })
}

// earlier tells whether a shuffle of the table before id still waits: it has no deal and is not closed.
func (m model) earlier(id uint64) bool {
	ctx := m[id].Body.(*audit.Commit).Context
	if ctx.ForLedger != "" {
		return false
	}
	for _, other := range m.commitsAt(ctx.Table) {
		if other < id && len(m.dealsOf(other)) == 0 && m.openCommit(other) != nil && !m.aside(other) {
			return true
		}
	}
	return false
}

// aside tells whether a close of the table set a shuffle aside: it has no deal, and is no child and no order.
func (m model) aside(id uint64) bool {
	ctx := m[id].Body.(*audit.Commit).Context
	closes := all(m, func(e *audit.Event) bool { return e.Kind == audit.EventTableClose && e.Name == ctx.Table })
	return ctx.Parent == nil && ctx.ForLedger == "" && len(m.dealsOf(id)) == 0 && len(closes) > 0 &&
		slices.Max(closes) > id
}

func (m model) mixRule(x *audit.Mix, e audit.Entry) string {
	c, now := m.openCommit(x.Shuffle), e.Time
	return first(
		"not_open", func() bool { return c == nil },
		"deadline", func() bool { return now >= c.CloseBy },
		"owner", func() bool { return !m.plays(x.Shuffle, e.Actor.Identity) },
		"set_aside", func() bool { return m.aside(x.Shuffle) },
		"earlier_serial", func() bool { return m.earlier(x.Shuffle) },
		"mix", func() bool { return m.badMix(c, x) },
		"checkpoint", func() bool {
			return x.Checkpoint > uint64(len(m)) || !(x.Checkpoint > x.Shuffle)
		},
	)
}

func (m model) badMix(c *audit.Commit, x *audit.Mix) bool {
	ctx, plan := c.Context, valued(c.Context)
	if any1(m, func(other *audit.Mix) bool { return other.Shuffle == x.Shuffle }) || len(m.dealsOf(x.Shuffle)) > 0 ||
		len(x.Values) != len(plan) {
		return true
	}
	for i, v := range x.Values {
		switch {
		case v.Source != plan[i].Source:
			return true
		case v.Source == audit.SourceSlot && string(spec.SlotHash(ctx.Origin, ctx.Table,
			v.Slot[:])) != string(plan[i].Slot[:]):
			return true
		case v.Source == audit.SourceCut && int(v.Cut) >= ctx.Recipe.Take:
			return true
		}
	}
	return false
}

func (m model) dealRule(d *audit.Deal, e audit.Entry) string {
	c, now := m.openCommit(d.Shuffle), e.Time
	next := func() (n int) {
		for _, i := range m.dealsOf(d.Shuffle) {
			for _, r := range m[i].Body.(*audit.Deal).Runs {
				n += r.Count
			}
		}
		return n
	}
	return first(
		"not_open", func() bool { return c == nil },
		"deadline", func() bool { return now >= c.CloseBy },
		"owner", func() bool { return !m.plays(d.Shuffle, e.Actor.Identity) },
		"set_aside", func() bool { return m.aside(d.Shuffle) },
		"earlier_serial", func() bool { return m.earlier(d.Shuffle) },
		"mix", func() bool {
			return len(valued(c.Context)) > 0 && !any1(m, func(x *audit.Mix) bool { return x.Shuffle == d.Shuffle })
		},
		"place", func() bool { return d.First != next() },
		"places", func() bool {
			places := c.Context.Recipe.Take + len(c.Context.Recipe.Ranges)
			last := d.First - 1
			for _, r := range d.Runs {
				last += r.Count
			}
			for i, r := range d.Runs {
				if r.Purpose == audit.PurposeOrder && (i != len(d.Runs)-1 || last != places-1) {
					return true
				}
			}
			hidden := slices.ContainsFunc(d.Runs, func(r audit.Run) bool { return !r.Public })
			return last > places-1 || c.Context.IsNumbers() && hidden
		},
		"round", func() bool {
			last := m.round(d.Shuffle)
			return slices.ContainsFunc(d.Runs, func(r audit.Run) bool {
				skips := uint32(r.Round)-uint32(last) > 1
				last = r.Round
				return skips
			})
		},
		"co_dealer", func() bool { return m.badBlindDeal(c.Context, d) },
		"checkpoint", func() bool {
			return d.Checkpoint > uint64(len(m)) || !(d.Checkpoint > d.Shuffle)
		},
	)
}

// shows returns what each dealt place of a shuffle is: p public, h hidden, b a burn or discard that is hidden.
func (m model) shows(id uint64) (places []byte) {
	for _, i := range m.dealsOf(id) {
		for _, r := range m[i].Body.(*audit.Deal).Runs {
			for range r.Count {
				switch {
				case r.Public:
					places = append(places, 'p')
				case r.Purpose == audit.PurposeBurn, r.Purpose == audit.PurposeDiscard:
					places = append(places, 'b')
				default:
					places = append(places, 'h')
				}
			}
		}
	}
	for _, i := range all(m, func(r *audit.Reveal) bool { return r.Shuffle == id }) {
		for _, p := range m[i].Body.(*audit.Reveal).Places {
			places[p] = 'p'
		}
	}
	return places
}

func (m model) revealRule(r *audit.Reveal, e audit.Entry) string {
	return first(
		"not_open", func() bool { return !m.begun(r.Shuffle) },
		"deadline", func() bool { return e.Time >= m.openCommit(m.newest(r.Shuffle)).CloseBy },
		"owner", func() bool { return !m.plays(m.newest(r.Shuffle), e.Actor.Identity) },
		"reveal", func() bool {
			if r.Final && m.openCommit(r.Shuffle) == nil {
				return true
			}
			ctx, places := m[r.Shuffle].Body.(*audit.Commit).Context, m.shows(r.Shuffle)
			return ctx.ForLedger != "" || slices.ContainsFunc(r.Places, func(p uint16) bool {
				return int(p) >= len(places) || places[p] == 'p' ||
					places[p] == 'b' && (blind(ctx) || !r.Final && !r.Exposed)
			})
		},
	)
}

func (m model) closeRule(c *audit.Close, e audit.Entry) string {
	opened, now := m.openCommit(c.Shuffle), e.Time
	lost := c.Reason == audit.ReasonTapeLost
	auditor := func() bool { return opened.Context.Disclosure == audit.DisclosureAuditor }
	return first(
		"not_open", func() bool { return opened == nil },
		"owner", func() bool {
			owner, _ := m.owner(c.Shuffle)
			return owner != e.Actor.Identity && !lost && !(c.Outcome == audit.OutcomeExpired && word(e.Actor.Identity))
		},
		"deadline", func() bool { return !lost && (now >= opened.CloseBy) != (c.Outcome == audit.OutcomeExpired) },
		"outcome", func() bool {
			below, ok := m[len(m)-1].Body.(*audit.Commit)
			return c.Outcome == audit.OutcomeContinued &&
				!(ok && below.Context.Parent != nil && below.Context.Parent.ID == c.Shuffle)
		},
		"co_dealer", func() bool { return m.badBlindClose(opened.Context, c) },
		"form", func() bool {
			length := opened.Context.Recipe.TapeLen()
			told := !lost && c.Outcome != audit.OutcomeContinued
			return told && (!auditor() && (c.Form != audit.FormTape || len(c.Tape) != length) ||
				auditor() && (c.Form != audit.FormSealed || !m.sealedLen(length, len(c.Tape))))
		},
		"disclosure_key", func() bool {
			_, disclosure, changed := m.keysInForce()
			return c.Form == audit.FormSealed && (c.Key != disclosure || changed || disclosure == 0)
		},
		"entries", func() bool { return c.Entries != spec.EntriesOf(m, c.Shuffle) },
	)
}

func (m model) keyRule(k *audit.Key) string {
	anywhere := func(id [32]byte) bool {
		return slices.Contains(m.known(audit.SubjectSigning), id) || slices.Contains(m.known(audit.SubjectDisclosure), id) ||
			slices.Contains(m.known(audit.SubjectAuditor), id)
	}
	auditors, _, _ := m.keysInForce()
	signing := m.known(audit.SubjectSigning)
	_, administrators := m.administrators()
	return first("key", func() bool {
		switch k.Subject {
		case audit.SubjectSigning:
			return slices.Contains(administrators, string(k.Public)) || anywhere(audit.KeyID(k.Public)) ||
				!soundEdwards(k.Public) || ownWitness(m.policy(), "", [][32]byte{audit.KeyID(k.Public)})
		case audit.SubjectAuditor:
			return anywhere(audit.KeyID(k.Public)) || len(auditors) == 32 || !soundSealing(k.Public) ||
				m.mixes(k.Public[0])
		case audit.SubjectPolicy:
			return badPolicy(k.Policy, m.genesis(), signing)
		case audit.SubjectDisclosure:
			var wrapped [][32]byte
			for _, w := range k.Wraps {
				wrapped = append(wrapped, w.Auditor)
			}
			inForce := slices.Clone(auditors)
			order := func(a, b [32]byte) int { return slices.Compare(a[:], b[:]) }
			slices.SortFunc(inForce, order)
			slices.SortFunc(wrapped, order)
			return anywhere(audit.KeyID(k.Public)) || !soundSealing(k.Public) || m.mixes(k.Public[0]) ||
				!slices.Equal(wrapped, inForce)
		case audit.SubjectAdministrator:
			return k.Admin != audit.ChangeRemove && (!soundEdwards(k.Public) || slices.Contains(signing,
				audit.KeyID(k.Public)))
		case audit.SubjectCoDealer:
			return k.Origin != "" && !soundEdwards(k.Public)
		case audit.SubjectRetirement:
			return !slices.Contains(m.known(k.Retired), k.ID) ||
				any1(m, func(r *audit.Key) bool { return r.Subject == audit.SubjectRetirement && r.ID == k.ID }) ||
				k.Retired == audit.SubjectSigning && k.ID == signing[len(signing)-1] ||
				k.Retired == audit.SubjectAuditor && len(auditors) == 1
		}
		return false
	}, "co_dealer", func() bool {
		return k.Subject == audit.SubjectCoDealer && m.badPin(k) ||
			k.Subject == audit.SubjectSigning && m.mingled(m.pinned(), [][32]byte{audit.KeyID(k.Public)})
	}, "administrators", func() bool { return m.badAdministrators(k) })
}

func (m model) genesisRule(g *audit.Genesis) string {
	return first("key", func() bool {
		weak := func(k []byte) bool {
			return !soundSealing(k) || k[0] != g.AuditorKeys[0][0] || g.Production && k[0] != 2
		}
		return !soundEdwards(g.SigningKey) || slices.ContainsFunc(g.AuditorKeys, weak) || len(g.Policy) > 0 &&
			badPolicy(g.Policy, g, [][32]byte{audit.KeyID(g.SigningKey)}) ||
			slices.ContainsFunc(g.Administrators, func(a audit.Administrator) bool {
				return !soundEdwards(a.Key) || slices.Equal(a.Key, g.SigningKey)
			})
	}, "administrators", func() bool { return tooFew(g.Production, len(g.Administrators), g.TwoPersons) })
}

// soundEdwards: the bytes are a point of the curve, whose order is not small.
func soundEdwards(k []byte) bool {
	p := spec.Decode(k[1:])
	return p != nil && !p.Double().Double().Double().Identity()
}

// mixes reports whether a key of this type may not come: production has the hybrid one, and a ledger one.
func (m model) mixes(kind byte) bool {
	inForce, _, _ := m.keysInForce()
	of := func(k []byte) bool { return slices.Contains(inForce, audit.KeyID(k)) && k[0] != kind }
	return m.genesis().Production && kind != 2 || slices.ContainsFunc(m.genesis().AuditorKeys, of) ||
		any1(m, func(k *audit.Key) bool { return k.Subject == audit.SubjectAuditor && of(k.Public) })
}

// sealedLen: a sealed tape is as long as the newest disclosure key makes it, or where there
// is none, one of a type that may come.
func (m model) sealedLen(tape, sealed int) bool {
	_, at, _ := m.keysInForce()
	for kind, more := range map[byte]int{1: 81, 2: 1169} {
		if sealed == tape+more {
			return at != 0 && m[at].Body.(*audit.Key).Public[0] == kind || at == 0 && !m.mixes(kind)
		}
	}
	return false
}

// soundSealing: the point is one, and in front of that of a hybrid key 768 numbers of 12
// bits, least significant first, are below 3329 (FIPS 203 section 7.2).
func soundSealing(k []byte) bool {
	if k[0] == 2 {
		for b := k[1:1153]; len(b) > 0; b = b[3:] {
			if int(b[0])|int(b[1]&15)<<8 >= 3329 || int(b[1]>>4)|int(b[2])<<4 >= 3329 {
				return false
			}
		}
		k = k[len(k)-66:]
	}
	return soundPoint(k)
}

// soundPoint: the coordinates solve y² = x³ − 3x + b (SP 800-186 section 3.2.1.3).
func soundPoint(k []byte) bool {
	c := elliptic.P256().Params()
	x, y := new(big.Int).SetBytes(k[2:34]), new(big.Int).SetBytes(k[34:])
	right := new(big.Int).Exp(x, big.NewInt(3), c.P)
	right.Sub(right, new(big.Int).Mul(big.NewInt(3), x)).Add(right, c.B).Mod(right, c.P)
	return x.Cmp(c.P) < 0 && y.Cmp(c.P) < 0 && new(big.Int).Exp(y, big.NewInt(2), c.P).Cmp(right) == 0
}

func badPolicy(text []byte, g *audit.Genesis, signing [][32]byte) bool {
	p, err := trust.ParsePolicy(text)
	return err != nil || g.Deals == audit.DealsCosigned && !p.Asks() || ownWitness(text, g.Origin, signing)
}

// ownWitness: a witness line has the ledger's name or one of its signing keys.
func ownWitness(policy []byte, origin string, signing [][32]byte) bool {
	for _, line := range strings.Split(string(policy), "\n") {
		words := strings.Fields(line)
		if len(words) < 3 || words[0] != "witness" {
			continue
		}
		vkey := strings.SplitN(words[2], "+", 3)
		public, err := base64.StdEncoding.DecodeString(vkey[2])
		if err == nil && public[0] == 4 {
			public[0] = 1 // one type
		}
		if err != nil || vkey[0] == origin || slices.Contains(signing, audit.KeyID(public)) {
			return true
		}
	}
	return false
}

// policy is that of the newest entry that set one.
func (m model) policy() []byte {
	text := m.genesis().Policy
	for _, e := range m {
		if k, ok := e.Body.(*audit.Key); ok && k.Subject == audit.SubjectPolicy {
			text = k.Policy
		}
	}
	return text
}

func (m model) eventRule(e *audit.Event) string {
	open, _ := m.table(e.Name)
	return first("table", func() bool {
		return e.Kind == audit.EventTableOpen && open || e.Kind == audit.EventTableClose && !open
	},
		"kill", func() bool {
			return (e.Kind == audit.EventKillSet || e.Kind == audit.EventKillClear) &&
				m.killed(e.Scope, e.Name, e.Deck) == (e.Kind == audit.EventKillSet)
		},
		"instance", func() bool { return e.Kind == audit.EventLatchSet && !m.started(e.Instance) },
		"latch", func() bool { return e.Kind == audit.EventLatchClear && !m.latched() },
	)
}
