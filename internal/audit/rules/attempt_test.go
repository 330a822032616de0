package rules

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"pgregory.net/rapid"

	"shuffled/internal/audit"
	"shuffled/internal/audit/spec"
	"shuffled/internal/shuffle"
)

// attempts makes entries that are likely to come next, and now and then wrong in
// one thing or several. Its choices are even, which rapid's own are not.
type attempts struct {
	r       *rand.Rand
	m       model
	pending map[[32]byte]audit.Entry // what the acts of this ledger approve, by digest
}

func newAttempts(t *rapid.T, m model, pending map[[32]byte]audit.Entry) attempts {
	return attempts{rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "attempt"), 0)), m, pending}
}

const attemptOrigin = "o"

// attemptTime is 300 ms before round 101 of quicknet.
const attemptTime = (1692803367+300)*1000 - 300

// odd is true once in a while.
func (a attempts) odd() bool { return a.r.IntN(25) == 0 }

func (a attempts) pick(lo, hi int) int { return lo + a.r.IntN(hi-lo+1) }

// of returns one of list, which may be empty: then, or by chance, any index.
func (a attempts) of(list []uint64) uint64 {
	if len(list) == 0 || a.odd() {
		return uint64(a.pick(0, len(a.m)+1))
	}
	return list[a.pick(0, len(list)-1)]
}

func (a attempts) index() uint64 { return uint64(len(a.m)) }

func (a attempts) entry() audit.Entry {
	if len(a.m) == 0 {
		if a.odd() {
			return audit.Entry{Time: attemptTime, Actor: spec.Someone, Body: a.event()}
		}
		return audit.Entry{Time: attemptTime, Actor: spec.Someone, Body: a.genesis()}
	}
	e := audit.Entry{Actor: spec.Someone, Time: a.m[len(a.m)-1].Time + []int64{0, 0, 0, 1, 1, 1, 30, 30, 400,
		1700}[a.pick(0, 9)]}
	if a.odd() {
		e.Time -= 401
	}
	if b := a.due(e.Time); b != nil && !a.odd() {
		e.Body = b
		e.Actor = a.actor(b, e.Time)
		return e
	}
	if next, ok := a.approved(); ok {
		next.Time = e.Time
		return next
	}
	e.Body = a.body(e.Time)
	e.Actor = a.actor(e.Body, e.Time)
	acts, _ := a.m.twoPersons()
	if act := actOf(e.Body); act != 0 && (slices.Contains(acts, act) && a.pick(0, 3) > 0 || a.odd()) {
		a.pending[refApprovedEntry(e)] = e
		e.Body = a.act(act, refApprovedEntry(e), e.Time)
		e.Actor = a.actor(e.Body, e.Time)
	}
	return e
}

// body is one of them, more often one that can do something here.
func (a attempts) body(now int64) audit.Body {
	n := a.pick(0, 54)
	if a.guarded() && a.pick(0, 9) > 0 && len(a.held("a", audit.RoleDealer, now)) == 0 {
		return &audit.Credential{Kind: audit.CredentialCreated, ID: fmt.Sprint("c", len(a.m)), Form: audit.FormToken,
			Role: audit.RoleDealer, Identity: "a"}
	}
	if a.m.latched() && a.pick(0, 2) == 0 {
		return &audit.Event{Kind: audit.EventLatchClear, Reason: "r"}
	}
	if n < 32 && len(a.starts()) == 0 && !a.odd() {
		return &audit.Event{Kind: audit.EventInstanceStart, Name: "v1", VDSO: audit.VDSONo}
	}
	if n >= 13 && n < 32 && len(a.m.open()) == 0 && !a.odd() {
		n = 0
	}
	switch {
	case n < 13:
		return a.commit(now)
	case n < 23:
		return a.deal(now)
	case n < 28:
		return a.mix()
	case n < 32:
		return a.close(a.of(a.m.open()), now)
	case n < 35:
		return a.key()
	case n < 40:
		return a.event()
	case n < 44:
		if n == 43 && a.odd() {
			return a.disclosure(a.of(a.m.live()))
		}
		return a.takeover()
	case n < 46:
		return a.credential(now)
	case n < 47:
		return a.cancel(now)
	case n < 53:
		return a.reveal(a.of(a.m.live()))
	case n < 54:
		return &audit.Opaque{Code: 200, Data: []byte{7}}
	}
	return a.genesis()
}

func (a attempts) starts() []uint64 {
	return all(a.m, func(e *audit.Event) bool { return e.Kind == audit.EventInstanceStart })
}

// due is the close that a final deal or a child's commit asks for.
func (a attempts) due(now int64) audit.Body {
	switch b := a.m[len(a.m)-1].Body.(type) {
	case *audit.Deal:
		if b.Final && a.pick(0, 2) == 0 && len(a.hidden(b.Shuffle)) > 0 {
			r := a.reveal(b.Shuffle)
			r.Final = !a.odd()
			return r
		}
		if b.Final {
			return a.close(b.Shuffle, now)
		}
	case *audit.Reveal:
		if b.Final {
			return a.close(b.Shuffle, now)
		}
	case *audit.Commit:
		if b.Context.Parent != nil {
			c := a.close(b.Context.Parent.ID, now)
			return &audit.Close{Shuffle: c.Shuffle, Entries: c.Entries, Outcome: audit.OutcomeContinued}
		}
	}
	if next, _ := a.m.toDisclose(); next != 0 {
		return a.disclosure(next)
	}
	return nil
}

// attemptKeys are public keys of 41 owners, for signing, as points, and hybrid; those of
// the last are sound in form only.
var attemptKeys = sync.OnceValue(func() (keys [3][41][]byte) {
	for i := range 40 {
		keys[0][i], keys[1][i] = spec.SigningKey(fmt.Sprint(i)), spec.AuditorKey(fmt.Sprint(i))
		keys[2][i] = spec.AuditorKey(fmt.Sprint("hybrid ", i))
	}
	keys[0][40], keys[1][40], keys[2][40] = spec.KeyLike(33), spec.KeyLike(66), spec.HybridLike(1250)
	return keys
})

func attemptKey(subject audit.Subject, i int) []byte {
	if subject == audit.SubjectSigning {
		return attemptKeys()[0][i]
	}
	return attemptKeys()[1][i]
}

// sealing is an owner's key that tapes are sealed to, most often of a type that may come.
func (a attempts) sealing(g *audit.Genesis, i int) []byte {
	kind := 1
	if len(g.AuditorKeys) > 0 && g.AuditorKeys[0][0] == 2 || g.Production {
		kind = 2
	}
	if a.odd() {
		kind = 3 - kind
	}
	return attemptKeys()[kind][i]
}

// added is how many bytes what is sealed has more under the newest disclosure key.
func (a attempts) added() int {
	_, at, _ := a.m.keysInForce()
	hybrid := a.m.genesis().Production
	if at != 0 {
		hybrid = a.m[at].Body.(*audit.Key).Public[0] == 2
	}
	if hybrid != a.odd() {
		return 1169
	}
	return 81
}

func (a attempts) genesis() *audit.Genesis {
	g := &audit.Genesis{Origin: attemptOrigin, SigningKey: attemptKey(audit.SubjectSigning, 0), Policy: a.policy(),
		Deals:    audit.Deals(a.pick(1, 2)),
		MixModes: 15, Disclosure: audit.DisclosurePublic, DefaultCloseBy: 1, MaxCloseBy: 3, Access: audit.AccessPublic,
		Revision: 1}
	a.administrators(g)
	if a.pick(0, 4) == 0 {
		g.MixModes = uint8(a.pick(0, 15))
	}
	for i := range a.pick(0, 2) {
		g.AuditorKeys = append(g.AuditorKeys, a.sealing(g, 1+i))
	}
	if a.odd() {
		g.SigningKey = attemptKey(audit.SubjectSigning, 40)
	}
	if a.odd() {
		g.AuditorKeys = append(g.AuditorKeys, a.sealing(g, 40))
	}
	if g.Deals == audit.DealsSigned && a.odd() {
		g.Policy = nil
	}
	if len(g.Administrators) > 0 && a.odd() {
		g.Administrators[0].Key = g.SigningKey
	}
	return g
}

// policy asks for witnesses, most often.
func (a attempts) policy() []byte {
	if a.odd() {
		return []byte([]string{"p", "quorum none\n"}[a.pick(0, 1)])
	}
	return []byte(attemptPolicy())
}

var attemptPolicy = sync.OnceValue(func() string { return spec.WitnessPolicy("w1", "w2") })

func attemptDeck(i int) [32]byte { return [32]byte{31: byte(i)} }

func (a attempts) commit(now int64) *audit.Commit {
	ctx := &audit.Context{Origin: attemptOrigin, Genesis: a.m.genesisHash(),
		Production: a.m.genesis().Production != a.odd(), Table: []string{"t1", "t1", "t2"}[a.pick(0, 2)],
		Disclosure: audit.DisclosurePublic}
	if a.odd() {
		ctx.Origin = "other"
	}
	if a.odd() {
		ctx.Genesis[31]++
	}
	a.recipe(ctx)
	a.plan(ctx)
	a.terms(ctx)
	if _, disclosure, changed := a.m.keysInForce(); disclosure > 0 && !changed && a.pick(0, 2) > 0 || a.odd() {
		ctx.Disclosure = audit.DisclosureAuditor
	}
	c := &audit.Commit{Context: ctx, Serial: 1, CloseBy: now + []int64{1, 1000, 3000, 3000, 3000, 3000}[a.pick(0, 5)],
		Instance: a.of(a.starts())}
	if below := a.m.commitsAt(ctx.Table); len(below) > 0 {
		c.Serial, c.Previous = uint64(len(below))+1, below[len(below)-1]
	}
	a.coDealer(c, now)
	if a.odd() {
		c.CloseBy = now + []int64{0, -1, 3001, 1_000_000}[a.pick(0, 3)]
	}
	if a.odd() {
		c.Serial += uint64(a.pick(1, 2))
	}
	if a.odd() || c.Serial > 1 && c.Previous == 0 {
		c.Previous = uint64(a.pick(1, len(a.m)))
	}
	if c.Serial == 1 {
		c.Previous = 0
	}
	return c
}

// terms chooses terms that fit most often, and a child's are most often its parent's.
func (a attempts) terms(ctx *audit.Context) {
	if a.pick(0, 3) == 3 {
		kinds := []audit.TermsKind{audit.TermsPayTable, audit.TermsPayTable, audit.TermsWheel, audit.TermsTicketList}
		if ctx.IsNumbers() {
			kinds[0] = audit.TermsTicketList
		} else if ctx.IsDraw() {
			kinds[0] = audit.TermsWheel
		}
		ctx.Terms = &audit.Terms{Kind: kinds[a.pick(0, 1)]}
		if a.odd() {
			ctx.Terms.Kind = kinds[a.pick(2, 3)]
		}
		if ctx.Terms.Kind == audit.TermsTicketList {
			ctx.Terms.Count = uint64(ctx.Of)
			if a.odd() {
				ctx.Terms.Count += uint64(a.pick(1, 2))
			}
		}
	}
	if p := ctx.Parent; p != nil && !a.odd() {
		if of := a.m.openCommit(p.ID); of != nil {
			ctx.Terms = of.Context.Terms
		}
	}
}

// recipe chooses what is shuffled: a deck, a draw list, or an open shuffle again.
func (a attempts) recipe(ctx *audit.Context) {
	n := a.pick(2, 5)
	ctx.DeckHash, ctx.Recipe = attemptDeck(a.pick(1, 2)), shuffle.Recipe{Cards: n, Take: a.pick(1, n)}
	if a.pick(0, 5) == 5 {
		ctx.DeckHash, ctx.Recipe = [32]byte{}, shuffle.Recipe{Ranges: []uint32{6, 1}[:a.pick(1, 2)]}
		return
	}
	if a.pick(0, 5) == 5 {
		ctx.DeckHash, ctx.Recipe = [32]byte{}, shuffle.Recipe{}
		if err := ctx.TakeNumbers(n, a.pick(1, n)); err != nil {
			panic(err)
		}
		return
	}
	if len(a.m.open()) == 0 || a.pick(0, 4) < 2 {
		return
	}
	ctx.Parent = &audit.Parent{ID: a.of(a.m.open())}
	if children := slices.DeleteFunc(a.m.open(), func(id uint64) bool {
		_, ok := a.m.parentOf(id)
		return !ok
	}); len(children) > 0 && a.pick(0, 3) > 0 {
		ctx.Parent.ID = a.of(children)
	}
	m := 5
	if p := a.m.openCommit(ctx.Parent.ID); p != nil {
		m = p.Context.Recipe.Take
		if !a.odd() && !p.Context.IsDraw() {
			ctx.DeckHash = p.Context.DeckHash
		}
		if !a.odd() {
			ctx.Table = p.Context.Table
		}
	}
	for pos := range max(2, m) {
		ctx.Parent.Positions = append(ctx.Parent.Positions, uint16(pos))
	}
	if a.odd() {
		ctx.Parent.Positions[0] = uint16(max(2, m))
	}
	n = len(ctx.Parent.Positions)
	ctx.Recipe = shuffle.Recipe{Cards: n, Take: max(a.pick(1, n), a.pick(1, n))}
}

// slotValue is the value of slot i of a plan.
func slotValue(i int) [32]byte { return [32]byte{byte(i), 1} }

func (a attempts) plan(ctx *audit.Context) {
	if a.pick(0, 2) < 2 {
		return
	}
	for i := range a.pick(0, 2) {
		ctx.Plan = append(ctx.Plan, audit.Planned{Source: audit.SourceSlot, Slot: audit.SlotHash(ctx.Origin, ctx.Table,
			slotValue(i))})
	}
	if a.pick(0, 1) == 1 {
		ctx.Plan = append(ctx.Plan, audit.Planned{Source: audit.SourceBeacon, Round: 9})
		if a.pick(0, 2) > 0 {
			p := &ctx.Plan[len(ctx.Plan)-1]
			p.Chain, p.Round = quicknet(), uint64(a.pick(100, 105))
		}
	}
	if !ctx.IsDraw() && a.pick(0, 1) == 1 {
		ctx.Plan = append(ctx.Plan, audit.Planned{Source: audit.SourceCut})
	}
}

// checkpoint is a size that covers the shuffle, or not quite.
func (a attempts) checkpoint(id uint64) uint64 {
	n := a.index()
	sizes := []uint64{n, n, min(id+1, n), min(id+1, n), id, 0, n + 1}
	if a.odd() {
		return sizes[a.pick(4, 6)]
	}
	return sizes[a.pick(0, 3)]
}

func (a attempts) deal(now int64) audit.Body {
	id := a.of(a.m.open())
	if waiting := slices.DeleteFunc(a.m.open(), a.m.earlier); len(waiting) > 0 && !a.odd() {
		id = a.of(waiting)
	}
	if c := a.m.openCommit(id); c != nil && now >= c.CloseBy && a.pick(0, 3) > 0 {
		return a.close(id, now)
	}
	d := &audit.Deal{Shuffle: id, Checkpoint: a.checkpoint(id), Final: a.pick(0, 5) == 5}
	places, public := 3, false
	if c := a.m.openCommit(id); c != nil {
		places, public = c.Context.Recipe.Positions(), c.Context.IsNumbers()
		for _, i := range a.m.dealsOf(id) {
			d.First += a.m[i].Body.(*audit.Deal).Count()
		}
	}
	if places == d.First && a.pick(0, 3) > 0 {
		return a.close(id, now)
	}
	if a.odd() {
		d.First += a.pick(1, 2)
	}
	count := a.pick(1, max(1, places-d.First))
	if a.odd() {
		count = max(1, places-d.First+1)
	}
	round := 0
	if a.m.begun(id) {
		round = int(a.m.round(id))
	}
	for range count {
		if round += a.pick(0, 1); a.odd() {
			round = a.pick(0, 4)
		}
		d.Runs = append(d.Runs, audit.Run{Count: 1, Purpose: audit.Purpose(a.pick(1, 5)),
			Public: public && !a.odd() || a.pick(0, 3) == 0, Round: uint16(round)})
	}
	if c := a.m.openCommit(id); c != nil {
		a.give(d, c.Context)
	}
	return d
}

// hidden are the places of a shuffle that a reveal may make public.
func (a attempts) hidden(id uint64) (places []uint16) {
	for p, shows := range a.m.shows(id) {
		if shows != 'p' {
			places = append(places, uint16(p))
		}
	}
	return places
}

func (a attempts) reveal(id uint64) *audit.Reveal {
	for _, other := range a.m.live() {
		if len(a.hidden(id)) == 0 && !a.odd() {
			id = other
		}
	}
	r := &audit.Reveal{Shuffle: id, Final: a.pick(0, 5) == 5, Exposed: a.pick(0, 2) == 0}
	hidden := a.hidden(id)
	for _, p := range hidden {
		if a.pick(0, 1) == 0 {
			r.Places = append(r.Places, p)
		}
	}
	if len(r.Places) == 0 && len(hidden) > 0 {
		r.Places = hidden[:1]
	}
	if a.odd() || len(r.Places) == 0 {
		r.Places = []uint16{uint16(a.pick(0, 5))}
	}
	return r
}

func (a attempts) mix() *audit.Mix {
	planned := slices.DeleteFunc(a.m.open(), func(id uint64) bool {
		return len(valued(a.m.openCommit(id).Context)) == 0 || a.m.earlier(id) ||
			any1(a.m, func(m *audit.Mix) bool { return m.Shuffle == id })
	})
	x := &audit.Mix{Shuffle: a.of(planned)}
	x.Checkpoint = a.checkpoint(x.Shuffle)
	c := a.m.openCommit(x.Shuffle)
	if c == nil || len(valued(c.Context)) == 0 {
		x.Values = []audit.MixValue{{Source: audit.SourceSlot}}
		return x
	}
	for i, p := range valued(c.Context) {
		v := audit.MixValue{Source: p.Source}
		switch p.Source {
		case audit.SourceSlot:
			v.Slot = slotValue(i)
		case audit.SourceCut:
			v.Cut = uint16(a.pick(0, c.Context.Recipe.Take-1))
		}
		x.Values = append(x.Values, v)
	}
	a.spoil(x, c.Context.Recipe.Take)
	return x
}

// spoil makes a mix wrong, now and then.
func (a attempts) spoil(x *audit.Mix, m int) {
	last := &x.Values[len(x.Values)-1]
	if a.odd() {
		last.Slot[5] ^= 1
	}
	if a.odd() {
		last.Cut = uint16(m)
	}
	if a.odd() && len(x.Values) > 1 {
		x.Values[0], *last = *last, x.Values[0]
	}
	if a.odd() && len(x.Values) > 1 {
		x.Values = x.Values[1:]
	}
	if a.odd() {
		x.Values = append(x.Values, audit.MixValue{Source: audit.SourceCut})
	}
}

func (a attempts) close(id uint64, now int64) *audit.Close {
	c := &audit.Close{Shuffle: id, Entries: spec.EntriesOf(a.m, id), Form: audit.FormTape,
		Outcome: []audit.Outcome{audit.OutcomeCompleted, audit.OutcomeEndedEarly, audit.OutcomeVoid}[a.pick(0, 2)]}
	length := 54
	if o := a.m.openCommit(id); o != nil {
		length = o.Context.Recipe.TapeLen()
		if now >= o.CloseBy {
			c.Outcome = audit.OutcomeExpired
		}
		if o.Context.Disclosure == audit.DisclosureAuditor {
			_, c.Key, _ = a.m.keysInForce()
			c.Form, length = audit.FormSealed, length+a.added()
		}
	}
	if a.odd() {
		c.Outcome = audit.Outcome(a.pick(1, 5))
	}
	if a.odd() {
		c.Outcome = audit.OutcomeContinued
	}
	if a.odd() {
		c.Entries++
	}
	if a.odd() {
		length += a.pick(-1, 1)
	}
	if a.odd() {
		c.Form = audit.FormTape + audit.FormSealed - c.Form
	}
	if a.odd() {
		c.Key = uint64(a.pick(0, len(a.m)))
	}
	if c.Outcome == audit.OutcomeVoid {
		c.Reason = audit.Reason(a.pick(1, 11))
	}
	if o := a.m.openCommit(id); o != nil {
		a.follow(c, o.Context)
	}
	c.Tape = make([]byte, length)
	if c.Reason == audit.ReasonTapeLost || c.Outcome == audit.OutcomeContinued {
		c.Form, c.Tape = audit.FormNone, nil
	}
	if c.Form != audit.FormSealed {
		c.Key = 0
	}
	return c
}

// disclosure is one of an ancestor, as its close would be.
func (a attempts) disclosure(id uint64) *audit.DisclosureEntry {
	d := &audit.DisclosureEntry{Shuffle: id, Form: audit.FormTape}
	length := 54
	if a.odd() {
		d.Shuffle = uint64(a.pick(0, len(a.m)))
	}
	if d.Entries = spec.EntriesOf(a.m, d.Shuffle); a.odd() {
		d.Entries++
	}
	if a.m.begun(d.Shuffle) {
		ctx := a.m[d.Shuffle].Body.(*audit.Commit).Context
		length = ctx.Recipe.TapeLen()
		if ctx.Disclosure == audit.DisclosureAuditor {
			_, d.Key, _ = a.m.keysInForce()
			d.Form, length = audit.FormSealed, length+a.added()
		}
	}
	if a.odd() {
		length += a.pick(-1, 1)
	}
	if a.odd() {
		d.Form = audit.FormTape + audit.FormSealed - d.Form
	}
	d.Tape = make([]byte, length)
	if a.odd() {
		d.Form, d.Tape = audit.FormNone, nil
	}
	if d.Form != audit.FormSealed {
		d.Key = 0
	}
	return d
}

func (a attempts) key() *audit.Key {
	if a.m.pinned() == nil && a.pick(0, 1) == 0 || a.pick(0, 7) == 0 {
		return a.pin()
	}
	k := &audit.Key{Subject: audit.Subject(a.pick(1, 7))}
	k.Public = attemptKey(k.Subject, a.pick(0, 40))
	if k.Subject == audit.SubjectAuditor || k.Subject == audit.SubjectDisclosure {
		k.Public = a.sealing(a.m.genesis(), a.pick(0, 40))
	}
	wrap := make([]byte, 1201)
	if k.Public[0] == 1 {
		wrap = wrap[:113]
	}
	switch k.Subject {
	case audit.SubjectSigning:
		if a.odd() {
			k.Public = attemptAdmins()[a.pick(0, 7)].key
		}
	case audit.SubjectAdministrator:
		k.Admin, k.Name, k.Public = audit.Change(a.pick(1, 3)), fmt.Sprint("x", a.pick(0, 3)),
			attemptAdmins()[a.pick(0, 7)].key
		if a.odd() {
			k.Public = spec.KeyLike(33)
		}
		if a.odd() {
			k.Public = attemptKey(audit.SubjectSigning, a.pick(0, 2))
		}
		if k.Admin == audit.ChangeRemove {
			k.Public = nil
		}
	case audit.SubjectTwoPersons:
		k.Acts, k.Delay = a.listed(a.m.genesis().Production && !a.odd()), uint32(a.pick(0, 1))
	case audit.SubjectDisclosure:
		auditors, _, _ := a.m.keysInForce()
		if a.odd() {
			auditors = append(auditors, audit.KeyID([]byte("stranger")))
		}
		if a.odd() && len(auditors) > 0 {
			auditors = auditors[1:]
		}
		if a.odd() && len(auditors) > 0 {
			auditors[0] = audit.KeyID([]byte("another"))
		}
		slices.SortFunc(auditors, func(x, y [32]byte) int { return slices.Compare(x[:], y[:]) })
		for _, id := range auditors {
			k.Wraps = append(k.Wraps, audit.Wrap{Auditor: id, Sealed: wrap})
		}
		if len(k.Wraps) == 0 {
			k.Wraps = []audit.Wrap{{Auditor: audit.KeyID(k.Public), Sealed: wrap}}
		}
	case audit.SubjectPolicy:
		k.Policy = a.policy()
	case audit.SubjectRetirement:
		k.Retired = audit.Subject(a.pick(1, 3))
		k.ID = audit.KeyID(k.Public)
		if known := a.m.known(k.Retired); len(known) > 0 && !a.odd() {
			k.ID = known[a.pick(0, len(known)-1)]
		}
	}
	return k
}

func (a attempts) event() *audit.Event {
	e := &audit.Event{Kind: []audit.EventKind{1, 2, 3, 4, 5, 6, 7, 129, 10, 130, 200}[a.pick(0, 10)], Reason: "r"}
	if a.m.latched() && a.pick(0, 2) > 0 {
		e.Kind = audit.EventLatchClear
	}
	set := all(a.m, func(e *audit.Event) bool {
		return e.Kind == audit.EventKillSet && a.m.killed(e.Scope, e.Name, e.Deck)
	})
	if len(set) > 0 && a.pick(0, 2) > 0 {
		clear := *a.m[set[0]].Body.(*audit.Event)
		clear.Kind = audit.EventKillClear
		return &clear
	}
	table := fmt.Sprint("t", a.pick(1, 2))
	switch e.Kind {
	case audit.EventInstanceStart:
		e.Name, e.VDSO = "v1", audit.VDSOYes
	case audit.EventTableOpen, audit.EventTableClose:
		if open, known := a.m.table(table); known && !open && !a.odd() {
			e.Kind = audit.EventTableOpen
		}
		e.Name = table
	case audit.EventKillSet, audit.EventKillClear:
		e.Scope = audit.Scope(a.pick(1, 3))
		switch e.Scope {
		case audit.ScopeTable:
			e.Name = table
		case audit.ScopeDeck:
			e.Deck = attemptDeck(a.pick(0, 2))
		}
		if a.m.killed(e.Scope, e.Name, e.Deck) && !a.odd() {
			e.Kind = audit.EventKillClear
		}
	case audit.EventLatchSet:
		e.Latch, e.Instance = audit.LatchSlow, a.of(a.starts())
	case audit.EventAlarm:
		e.Alarm = audit.AlarmClockStep
	case audit.EventHeadAdopted:
		if a.pick(0, 3) > 0 {
			e.Kind = audit.EventAccessHead // not every ledger can lose all its credentials again and again
		}
	}
	if e.Kind >= 130 {
		e.Reason = ""
	}
	return e
}
