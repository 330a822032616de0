package dealer_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"pgregory.net/rapid"

	"shuffled/internal/audit"
	"shuffled/internal/dealer/api"
	"shuffled/internal/ledger"
	"shuffled/internal/shuffle"
	"shuffled/internal/wire"
)

// terms draws what commits of all kinds may have.
func (m *model) terms(r *rapid.T) (table, key string, who audit.Disclosure, closeBy *api.Time) {
	table = rapid.SampledFrom([]string{"t", "u"}).Draw(r, "table")
	m.keys++
	who = rapid.SampledFrom([]audit.Disclosure{0, audit.DisclosurePublic, audit.DisclosureAuditor}).Draw(r,
		"disclosure")
	if rapid.Bool().Draw(r, "soon") {
		at := m.now() + rapid.Int64Range(0, 900).Draw(r, "life")*1000
		closeBy = new(api.Time(at))
	}
	return table, fmt.Sprint("key-", m.keys), who, closeBy
}

// plan draws a mix plan; slots are now and then those of another shuffle.
func (m *model) plan(r *rapid.T, table string, cards bool) (plan *api.MixPlan, values [][32]byte, taken bool) {
	if rapid.IntRange(0, 2).Draw(r, "plan") > 0 {
		return nil, nil, false
	}
	n := rapid.IntRange(0, 2).Draw(r, "slots")
	plan = &api.MixPlan{Cut: wire.True(cards && (n == 0 || rapid.Bool().Draw(r, "cut")))}
	if n == 0 && !plan.Cut {
		return nil, nil, false
	}
	for i := range n {
		v := [32]byte([]byte(fmt.Sprintf("%-28s%4d", table, m.keys*4+i)))
		if i == 0 && rapid.IntRange(0, 4).Draw(r, "stolen") == 0 {
			for _, p := range m.plays {
				if len(p.values) > 0 && p.table == table {
					v, taken = p.values[0], true
				}
			}
		}
		values = append(values, v)
		plan.Slots = append(plan.Slots, audit.SlotHash(origin, table, v))
	}
	return plan, values, taken
}

func (m *model) commit(r *rapid.T) {
	at, key, who, closeBy := m.terms(r)
	plan, values, taken := m.plan(r, at, true)
	deck := rapid.SampledFrom([]string{"standard-52", "short-36"}).Draw(r, "deck")
	n := map[string]int{"standard-52": 52, "short-36": 36}[deck]
	req := api.ShuffleRequest{Table: at, Deck: deck, Disclosure: who, CloseBy: closeBy, Plan: plan}
	p := &play{table: at, m: n, plan: plan, values: values}
	if rapid.Bool().Draw(r, "take") {
		p.m = rapid.IntRange(1, 12).Draw(r, "cards")
		req.Take = &p.m
		req.EndAt = &api.EndAt{Lo: 1, Hi: p.m}
	}
	want := m.blocked(at, deck)
	switch {
	case want != "":
	case closeBy != nil && int64(*closeBy) <= m.now():
		want = audit.RuleCloseBy
	case taken:
		want = audit.RuleSlot
	}
	if plan != nil && p.m == 1 {
		want = "field mix" // it could move nothing
	}
	again := func(d player) (any, error) { return d.Shuffle(context.Background(), as("tester"), key, req) }
	s, err := m.pick(r).Shuffle(context.Background(), as("tester"), key, req)
	if m.expect(r, "commit", want, err) {
		m.begun(r, s, p)
		m.answer("commit", s, again)
	}
}

func (m *model) draw(r *rapid.T) {
	at, key, who, closeBy := m.terms(r)
	req := api.DrawsRequest{Table: at, Disclosure: who, CloseBy: closeBy}
	p := &play{table: at}
	taken := false
	switch rapid.IntRange(0, 2).Draw(r, "kind") {
	case 0:
		req.Ranges = rapid.SliceOfN(rapid.Uint32Range(1, 100), 1, 8).Draw(r, "ranges")
		p.m, p.draw = len(req.Ranges), true
	case 1:
		p.m = rapid.IntRange(1, 5).Draw(r, "take")
		req.Numbers = &api.Numbers{Of: 20, Take: p.m}
		p.draw, p.numbers = true, true
	default:
		req.Wheel = []api.Stop{{Label: "a", Weight: 3}, {Label: "b", Weight: 1}}
		p.m = 1
	}
	req.Plan, p.values, taken = m.plan(r, at, !p.draw)
	p.plan = req.Plan
	want := m.blocked(at, "")
	switch {
	case want != "":
	case closeBy != nil && int64(*closeBy) <= m.now():
		want = audit.RuleCloseBy
	case taken:
		want = audit.RuleSlot
	}
	if p.plan != nil && p.m == 1 && !p.draw {
		want = "field mix"
	}
	s, err := m.pick(r).Draws(context.Background(), as("tester"), key, req)
	if m.expect(r, "draw", want, err) {
		m.begun(r, s, p)
		m.answer("draw", s, func(d player) (any, error) {
			return d.Draws(context.Background(), as("tester"), key, req)
		})
	}
}

func (m *model) child(r *rapid.T) {
	of := m.one(r)
	_, key, who, _ := m.terms(r)
	req := api.ShuffleRequest{Table: of.table, Parent: &api.Parent{ID: of.id}, Disclosure: who}
	cards := of.m - of.next
	if of.m >= 2 && rapid.Bool().Draw(r, "listed") {
		cards = rapid.IntRange(2, min(6, of.m)).Draw(r, "cards")
		for i := range cards {
			req.Parent.Positions = append(req.Parent.Positions, uint16(of.m-1-i))
		}
	}
	want := ""
	switch {
	case of.ended != nil || of.draw:
		want = audit.RuleParent
	case req.Parent.Positions == nil && of.plan != nil && of.mixed == nil:
		want = audit.RuleMix
	case cards < 2:
		want = audit.RuleParent
	default:
		if want = m.blocked(of.table, ""); want == "" && (m.now() >= of.closeBy || of.aside) {
			want = audit.RuleParent
		}
	}
	s, err := m.pick(r).Shuffle(context.Background(), as("tester"), key, req)
	var illegal *audit.Illegal
	if errors.As(err, &illegal) && illegal.Code == audit.RuleKill &&
		(m.switches["deck standard-52"] || m.switches["deck short-36"]) {
		return // the deck is its root ancestor's, which the model does not follow
	}
	if m.expect(r, "child", want, err) {
		of.ended = &api.CloseRequest{Outcome: audit.OutcomeContinued}
		of.child = &play{table: of.table, m: cards, kid: true}
		m.begun(r, s, of.child)
		m.answer("child", s, func(d player) (any, error) {
			return d.Shuffle(context.Background(), as("tester"), key, req)
		})
	}
}

func (m *model) mix(r *rapid.T) {
	p := m.one(r)
	req := api.MixRequest{Slots: p.values}
	if p.plan != nil && p.plan.Cut {
		req.Cut = num(rapid.IntRange(0, p.m-1).Draw(r, "cut"))
	}
	wrong := p.values != nil && rapid.IntRange(0, 3).Draw(r, "wrong") == 0
	if wrong {
		req.Slots = [][32]byte{{1}, {2}}[:len(p.values)]
	}
	want := ""
	switch {
	case p.plan == nil:
		want = audit.RuleMix
	case p.mixed != nil && !wrong && (req.Cut == nil || *req.Cut == *p.mixed.Cut):
		return // a repeat
	case p.mixed != nil:
		want = "repeated"
	case p.ended != nil:
		want = audit.RuleNotOpen
	case m.now() >= p.closeBy:
		want = audit.RuleDeadline
	case p.aside:
		want = audit.RuleSetAside
	case m.waits(p):
		want = audit.RuleEarlier
	case wrong:
		want = audit.RuleMix
	}
	a, err := m.pick(r).Mix(context.Background(), as("tester"), p.id, req)
	if m.expect(r, "mix", want, err) {
		p.mixed = &req
		m.answer("mix", a, func(d player) (any, error) { return d.Mix(context.Background(), as("tester"), p.id, req) })
	}
}

func (m *model) deal(r *rapid.T) {
	p := m.one(r)
	req := api.DealRequest{First: p.next, Runs: []audit.Run{seat(rapid.IntRange(1, 4).Draw(r, "count"), "seat-1")}}
	switch rapid.IntRange(0, 9).Draw(r, "kind") {
	case 0:
		req.First = rapid.IntRange(0, p.m).Draw(r, "first")
	case 1:
		req.Runs = append(req.Runs, board(1))
	case 2:
		req.Runs = []audit.Run{{Count: max(1, p.m-p.next), Purpose: audit.PurposeOrder}}
	case 3:
		req.Close = &api.CloseRequest{Outcome: rapid.SampledFrom([]audit.Outcome{audit.OutcomeCompleted,
			audit.OutcomeEndedEarly}).Draw(r, "outcome")}
	}
	count := 0
	for i := range req.Runs {
		req.Runs[i].Public = req.Runs[i].Public || p.numbers
		count += req.Runs[i].Count
	}
	want := ""
	_, there := p.deals[req.First]
	switch {
	case there && fmt.Sprint(p.deals[req.First].Runs) == fmt.Sprint(req.Runs):
		return // a repeat, or another close: both are tried elsewhere
	case there:
		want = "repeated"
	case req.First+count > p.m:
		want = audit.RulePlaces
	case p.ended != nil:
		want = audit.RuleNotOpen
	case m.now() >= p.closeBy:
		want = audit.RuleDeadline
	case p.aside:
		want = audit.RuleSetAside
	case p.next == 0 && m.waits(p):
		want = audit.RuleEarlier
	case p.plan != nil && p.mixed == nil:
		want = audit.RuleMix
	case req.First != p.next:
		want = audit.RulePlace
	}
	d, err := m.pick(r).Deal(context.Background(), as("tester"), p.id, req)
	if !m.expect(r, "deal", want, err) {
		return
	}
	p.next += count
	p.deals[req.First] = req
	p.cards = append(p.cards, d.Cards...)
	p.ended = req.Close
	if d.Next != p.next || len(d.Cards) != count || (d.Close == nil) != (req.Close == nil) {
		r.Fatalf("the deal of %d from %d is %+v", count, req.First, d)
	}
	m.answer("deal", d, func(d player) (any, error) { return d.Deal(context.Background(), as("tester"), p.id, req) })
}

func (m *model) close(r *rapid.T) {
	p := m.one(r)
	req := rapid.SampledFrom([]api.CloseRequest{{Outcome: audit.OutcomeCompleted},
		{Outcome: audit.OutcomeEndedEarly},
		{Outcome: audit.OutcomeVoid, Reason: audit.ReasonMisdeal},
		{Outcome: audit.OutcomeVoid, Reason: audit.ReasonRegulator}}).Draw(r, "close")
	want := ""
	switch {
	case p.ended != nil && p.ended.Outcome == req.Outcome && p.ended.Reason == req.Reason:
		return // a repeat
	case p.ended != nil:
		want = "repeated"
	case m.now() >= p.closeBy:
		want = audit.RuleDeadline
	}
	c, err := m.pick(r).Close(context.Background(), as("tester"), p.id, req)
	if m.expect(r, "close", want, err) {
		p.ended = &req
		m.answer("close", c, func(d player) (any, error) {
			return d.Close(context.Background(), as("tester"), p.id, req)
		})
	}
}

func (m *model) passTime(r *rapid.T) {
	m.tb.pass(time.Duration(rapid.Int64Range(1, 400_000).Draw(r, "milliseconds")) * time.Millisecond)
}

func (m *model) expire(r *rapid.T) {
	want := 0
	for _, p := range m.plays {
		if p.ended == nil && m.now() >= p.closeBy {
			p.ended = &api.CloseRequest{Outcome: audit.OutcomeExpired}
			want++
		}
	}
	d := m.pick(r)
	if err := d.Ledger().Refresh(context.Background()); err != nil {
		r.Fatal(err)
	}
	if n, err := d.Expire(context.Background()); n != want || err != nil {
		r.Fatalf("%d expired, %v, the model %d", n, err, want)
	}
	m.did["expired"] += want
}

func (m *model) throwSwitch(r *rapid.T) {
	req := rapid.SampledFrom([]api.SwitchRequest{{Scope: audit.ScopeLedger}, {Scope: audit.ScopeTable, Table: "t"},
		{Scope: audit.ScopeDeck, Deck: "short-36"}}).Draw(r, "switch")
	name := map[audit.Scope]string{audit.ScopeLedger: "ledger", audit.ScopeTable: "table t",
		audit.ScopeDeck: "deck short-36"}[req.Scope]
	// Most often cleared, so that stories go on.
	req.Reason = "checked"
	set, d := rapid.IntRange(0, 9).Draw(r, "set") == 9, m.pick(r)
	want := ""
	if m.switches[name] == set {
		want = audit.RuleKill
	}
	var err error
	if set {
		_, err = d.SetSwitch(context.Background(), m.by(), req)
	} else {
		deck, _ := shuffle.Named("short-36")
		e := &audit.Event{Kind: audit.EventKillClear, Scope: req.Scope, Name: req.Table, Reason: req.Reason}
		if req.Scope == audit.ScopeDeck {
			e.Deck = deck.Hash()
		}
		_, err = d.Ledger().Append(context.Background(), ledger.Proposal{Actor: m.by(), Bodies: []audit.Body{e}})
	}
	if m.expect(r, "switch", want, err) {
		m.switches[name] = set
	}
}

func (m *model) setTable(r *rapid.T) {
	name, open := rapid.SampledFrom([]string{"t", "u"}).Draw(r, "table"), rapid.IntRange(0, 5).Draw(r, "open") < 5
	want := ""
	if open == (m.opened[name] && !m.closed[name]) || !open && !m.opened[name] {
		want = audit.RuleTable
	}
	_, err := m.pick(r).SetTable(context.Background(), m.by(), name, open)
	if m.expect(r, "table", want, err) {
		m.opened[name], m.closed[name] = true, !open
		for _, p := range m.plays {
			p.aside = p.aside || !open && p.table == name && p.next == 0 && p.ended == nil && !p.kid
		}
	}
}

func (m *model) latch(r *rapid.T) {
	d := m.pick(r)
	if rapid.IntRange(0, 9).Draw(r, "set") == 9 {
		_, err := d.Ledger().Append(context.Background(),
			ledger.Proposal{Actor: m.by(),
				Bodies: []audit.Body{&audit.Event{Kind: audit.EventLatchSet, Latch: audit.LatchOperator}}})
		m.expect(r, "latch", "", err)
		m.latched = true
		return
	}
	want := ""
	if !m.latched {
		want = audit.RuleLatch
	}
	_, err := d.ClearLatch(context.Background(), m.by(), "checked", nil)
	m.expect(r, "latch", want, err)
	m.latched = false
}
