package inspect

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/inspect/inspecttest"
)

// asked begins a hand whose first two places the co-dealer deals, change being of the request.
func asked(p *inspecttest.Pair, change func(*audit.Deal)) *inspecttest.Hand {
	h := p.Begin("t2")
	p.See()
	h.Ask(change, 2)
	return h
}

// unseen leaves out of a close what was not played, and what the house saw of the co-dealer's ledger since the order.
func unseen(h *inspecttest.Hand) func(*audit.Close) {
	return func(c *audit.Close) { c.Blind = &audit.Blind{Head: h.Order} }
}

var pairFaults = map[string]struct {
	tell   func(*inspecttest.Pair)
	faults string     // by code: of the pair, and those that a ledger has alone
	want   PairCounts // alongside the two hands of tellPair
}{
	"unplayed": {func(p *inspecttest.Pair) {
		h := asked(p, nil)
		p.Wait(1)
		p.See()
		p.House.Start()
		h.End(audit.OutcomeVoid, void, nil)
		h.Follow(nil)
	}, "", PairCounts{Shuffles: 1, Requests: 1, Unplayed: 1, Restarted: 1, OrdersChecked: 1}},
	"unanswered": {func(p *inspecttest.Pair) {
		h := asked(p, nil)
		p.Wait(1)
		p.See()
		h.End(audit.OutcomeVoid, void, func(c *audit.Close) { c.Blind.Values = nil })
		h.Follow(nil)
	}, "", PairCounts{Shuffles: 1, Requests: 1, Unanswered: 1, OrdersChecked: 1}},
	"the co-dealer is late": {func(p *inspecttest.Pair) {
		h := asked(p, nil)
		h.End(audit.OutcomeVoid, void, unseen(h))
		p.Wait(1)
		p.See()
	}, "", PairCounts{Shuffles: 1, Requests: 1, Withheld: 1}},
	"the order expired": {func(p *inspecttest.Pair) {
		h := asked(p, nil)
		p.Wait(1)
		p.See()
		h.Play(nil)
		h.End(audit.OutcomeCompleted, audit.ReasonNone, nil)
		p.Wait(3 * 3600)
		h.Follow(func(c *audit.Close) { c.Outcome, c.Follows = audit.OutcomeExpired, nil })
	}, "", PairCounts{Shuffles: 1, Requests: 1, Matched: 1, Blind: 1, OrdersChecked: 1}},
	"open": {func(p *inspecttest.Pair) { asked(p, nil) }, "", PairCounts{Shuffles: 1, Requests: 1, Pending: 1}},
	"open for long": {func(p *inspecttest.Pair) {
		asked(p, nil)
		p.Wait(3600 + 3600)
	}, "not_in_time", PairCounts{Shuffles: 1, Requests: 1, Pending: 1}},
	"a close that does not name what the house saw": {func(p *inspecttest.Pair) {
		h := asked(p, nil)
		h.End(audit.OutcomeVoid, void, func(c *audit.Close) { c.Blind = &audit.Blind{Head: c.Blind.Head} })
		p.Wait(1)
		p.See()
	}, "", PairCounts{Shuffles: 1, Requests: 1, Unread: 1}},
	"a close that no witness saw for long": {func(p *inspecttest.Pair) {
		h := asked(p, nil)
		p.See()
		h.End(audit.OutcomeVoid, void, unseen(h))
		p.Wait(3601)
	}, "", PairCounts{Shuffles: 1, Requests: 1, Silent: 1}},
	"a close without the tape": {func(p *inspecttest.Pair) {
		p.House.Hire(inspecttest.Admin, audit.RoleAdmin)
		h := asked(p, nil)
		p.See()
		p.Wait(60)
		h.End(audit.OutcomeVoid, audit.ReasonTapeLost, func(c *audit.Close) {
			c.Blind, c.Form, c.Tape = nil, audit.FormNone, nil
		})
	}, "tape_lost", PairCounts{Shuffles: 1, Requests: 1, TapeLost: 1}},
	"a burn that is not played": {func(p *inspecttest.Pair) {
		h := asked(p, func(d *audit.Deal) { d.Runs = []audit.Run{{Count: 1, Purpose: audit.PurposeBurn}} })
		h.End(audit.OutcomeVoid, void, nil)
		h.Follow(nil)
	}, "", PairCounts{Shuffles: 1, Requests: 1, Unplayed: 1, OrdersChecked: 1}},
	"a close behind what the witnesses saw": {func(p *inspecttest.Pair) {
		h := asked(p, nil)
		p.See()
		p.Wait(12)
		h.End(audit.OutcomeVoid, void, unseen(h))
	}, "", PairCounts{Shuffles: 1, Requests: 1, Silent: 1}},
	"clocks apart": {func(p *inspecttest.Pair) {
		h := asked(p, nil)
		p.See()
		p.Wait(9)
		h.End(audit.OutcomeVoid, void, unseen(h))
	}, "", PairCounts{Shuffles: 1, Requests: 1, Withheld: 1}},
	"an order that is not there": {func(p *inspecttest.Pair) {
		h := p.Begin("t2")
		order := h.A.Commit.Context.Plan[0]
		order.Index += 1000
		h.Name("t3", order)
	}, "co_dealer_forked", PairCounts{Shuffles: 2, Beyond: 1}},
	"a deal of the co-dealer that is not there": {func(p *inspecttest.Pair) {
		h := asked(p, nil)
		h.Play(func(d *audit.Deal) { d.Blind.Deal.Index, d.Blind.Head.Size = 1000, 1001 })
	}, "co_dealer_forked", PairCounts{Shuffles: 1, Requests: 1, Pending: 1, Beyond: 1}},
	"a checkpoint of the co-dealer that is not there": {func(p *inspecttest.Pair) {
		h := asked(p, nil)
		h.End(audit.OutcomeVoid, void, func(c *audit.Close) { c.Blind.Head.Size = 1000 })
		h.Follow(nil)
	}, "co_dealer_forked", PairCounts{Shuffles: 1, Requests: 1, Unplayed: 1, OrdersChecked: 1, Beyond: 1}},
	"a commit of the house that is not there": {func(p *inspecttest.Pair) {
		asked(p, func(d *audit.Deal) { d.Asked.Commit.Index, d.Asked.Head.Size = 1000, 1001 })
		p.See()
	}, "house_forked", PairCounts{Shuffles: 1, Requests: 1, Pending: 1, Beyond: 1}},
	"an entry of the house that is not there": {func(p *inspecttest.Pair) {
		asked(p, func(d *audit.Deal) { d.Asked.After[0], d.Asked.Head.Size = 1, 1000 })
		p.See()
	}, "house_forked", PairCounts{Shuffles: 1, Requests: 1, Pending: 1, Beyond: 1}},
	"a close of the house that is not there": {func(p *inspecttest.Pair) {
		h := asked(p, nil)
		h.Play(nil)
		h.End(audit.OutcomeCompleted, audit.ReasonNone, nil)
		h.Follow(func(c *audit.Close) { c.Follows.Index = 1000 })
		p.See()
	}, "disclosed_early", PairCounts{Shuffles: 1, Requests: 1, Matched: 1, OrdersChecked: 1}},
	"a close that is dated back": {func(p *inspecttest.Pair) {
		h := asked(p, nil)
		now := p.House.Now
		p.Wait(1)
		p.See()
		p.Wait(11)
		at := p.House.Now
		p.House.Now = now
		p.House.Start()
		p.House.Now = at
		p.See()
		p.House.Now = now
		h.End(audit.OutcomeVoid, void, unseen(h))
		p.House.Now = at
	}, "", PairCounts{Shuffles: 1, Requests: 1, Silent: 1, Restarted: 1}},
	"a close long behind what was dealt and what the witnesses saw": {func(p *inspecttest.Pair) {
		h := asked(p, nil)
		p.See()
		h.Play(nil)
		h.Ask(nil, 1)
		p.See()
		p.Wait(900)
		h.End(audit.OutcomeVoid, void, unseen(h))
		h.Follow(nil)
	}, "", PairCounts{Shuffles: 1, Requests: 2, Matched: 1, Silent: 1, OrdersChecked: 1}},
	"a close that names what no evidence has, for what was opened": {func(p *inspecttest.Pair) {
		h := asked(p, nil)
		p.See()
		h.End(audit.OutcomeVoid, void, func(c *audit.Close) {
			c.Blind.Deal.Index, c.Blind.Head.Size, c.Blind.Values = 1<<40, 1<<40+1, nil
		})
	}, "co_dealer_forked", PairCounts{Shuffles: 1, Requests: 1, Beyond: 1}},
	"two requests ahead, and a close that names another deal": {func(p *inspecttest.Pair) {
		h := asked(p, nil)
		h.Ask(nil, 2)
		p.See()
		h.End(audit.OutcomeVoid, void, func(c *audit.Close) { c.Blind.Deal.Leaf[0]++ })
	}, "co_dealer_forked looked", PairCounts{Shuffles: 1, Requests: 2}},
	"an order that is disclosed behind a close that no evidence has": {func(p *inspecttest.Pair) {
		h := asked(p, nil)
		h.Play(nil)
		p.See()
		h.Follow(func(c *audit.Close) { c.Follows.Foreign = audit.Foreign{Index: 1 << 40} })
		p.See()
		h.End(audit.OutcomeCompleted, audit.ReasonNone, nil)
	}, "disclosed_early", PairCounts{Shuffles: 1, Requests: 1, Matched: 1, OrdersChecked: 1}},
	"an order that is disclosed behind a close that no evidence has, of an open shuffle": {func(p *inspecttest.Pair) {
		h := asked(p, nil)
		h.Play(nil)
		h.Follow(func(c *audit.Close) { c.Follows.Foreign = audit.Foreign{Index: 1 << 40} })
		p.See()
	}, "disclosed_early", PairCounts{Shuffles: 1, Requests: 1, Matched: 1, OrdersChecked: 1, Beyond: 1}},
	"an order that expires by a clock ahead": {func(p *inspecttest.Pair) {
		h := asked(p, nil)
		h.Play(nil)
		p.See()
		p.Lab.Now += 3 * 3_600_000
		h.Follow(func(c *audit.Close) { c.Outcome, c.Follows = audit.OutcomeExpired, nil })
		p.Lab.Now -= 3 * 3_600_000
		p.See()
		p.Lab.Now += 3 * 3_600_000
		h.End(audit.OutcomeCompleted, audit.ReasonNone, nil)
	}, "disclosed_early", PairCounts{Shuffles: 1, Requests: 1, Matched: 1, OrdersChecked: 1}},
	"two requests ahead": {func(p *inspecttest.Pair) {
		h := asked(p, nil)
		h.Ask(nil, 2)
		p.Wait(1)
		p.See()
		h.End(audit.OutcomeVoid, void, nil)
	}, "looked", PairCounts{Shuffles: 1, Requests: 2, Unplayed: 1}},
	"a draft of the commit": {func(p *inspecttest.Pair) {
		asked(p, func(d *audit.Deal) { d.Asked.Commit.Leaf[0]++ })
	}, "looked_elsewhere", PairCounts{Shuffles: 1, Requests: 1}},
	"a draft of the mix": {func(p *inspecttest.Pair) {
		h := asked(p, func(d *audit.Deal) { d.Asked.After[0]++ })
		h.End(audit.OutcomeVoid, void, unseen(h))
	}, "looked_elsewhere", PairCounts{Shuffles: 1, Requests: 1}},
	"a request behind what the house's evidence has not": {func(p *inspecttest.Pair) {
		asked(p, func(d *audit.Deal) { d.Asked.After[0]++ })
	}, "", PairCounts{Shuffles: 1, Requests: 1, Pending: 1}},
	"an order that follows the fifth shuffle that names it": {func(p *inspecttest.Pair) {
		h := p.Begin("t2")
		for range 6 {
			h.Name("t2", h.A.Commit.Context.Plan[0])
		}
		p.See()
		h.Ask(nil, 2)
		h.Follow(func(c *audit.Close) { c.Follows.Foreign = audit.Foreign{Index: 1} })
	}, "co_dealer_commit", PairCounts{Shuffles: 7, Requests: 1, OrdersChecked: 1}},
	"asked in front of the mix": {func(p *inspecttest.Pair) {
		h := p.Begin("t2", inspecttest.Mixed(1, 0, true))
		p.See()
		h.Ask(nil, 2)
		h.Mix()
		h.Play(nil)
	}, "looked_elsewhere", PairCounts{Shuffles: 1, Requests: 1, Matched: 1}},
	"nobody asked": {func(p *inspecttest.Pair) {
		asked(p, func(d *audit.Deal) { d.Asked.Ask[0] = 1 })
	}, "unasked", PairCounts{Shuffles: 1, Requests: 1}},
	"other runs": {func(p *inspecttest.Pair) {
		h := asked(p, nil)
		h.Play(func(d *audit.Deal) { d.Runs[0].Recipient = "seat-2" })
	}, "other_runs", PairCounts{Shuffles: 1, Requests: 1, Matched: 1}},
	"another value": {func(p *inspecttest.Pair) {
		h := asked(p, nil)
		h.Play(func(d *audit.Deal) { d.Blind.Values[1] = h.B.Values[5] })
		p.See()
		h.End(audit.OutcomeCompleted, audit.ReasonNone, nil)
		h.Follow(nil)
	}, "co_dealer_value", PairCounts{Shuffles: 1, Requests: 1, Matched: 1, OrdersChecked: 1}},
	"another value that was not played": {func(p *inspecttest.Pair) {
		h := asked(p, nil)
		h.End(audit.OutcomeVoid, void, func(c *audit.Close) { c.Blind.Values[1] = h.B.Values[5] })
		h.Follow(nil)
	}, "co_dealer_value", PairCounts{Shuffles: 1, Requests: 1, Unplayed: 1, OrdersChecked: 1}},
	"fewer values that were not played": {func(p *inspecttest.Pair) {
		h := asked(p, nil)
		h.End(audit.OutcomeVoid, void, func(c *audit.Close) { c.Blind.Values = c.Blind.Values[:1] })
	}, "other_runs", PairCounts{Shuffles: 1, Requests: 1, Unplayed: 1}},
	"one order for two": {func(p *inspecttest.Pair) {
		h := p.Begin("t2")
		h.Name("t2", h.A.Commit.Context.Plan[0])
	}, "co_dealer_commit", PairCounts{Shuffles: 2}},
	"one order for many": {func(p *inspecttest.Pair) {
		h := p.Begin("t2")
		for range 6 {
			h.Name("t2", h.A.Commit.Context.Plan[0])
		}
		p.See()
		h.Ask(nil, 2)
	}, "co_dealer_commit", PairCounts{Shuffles: 7, Requests: 1}},
	"no order": {func(p *inspecttest.Pair) {
		h := p.Begin("t2")
		order := h.A.Commit.Context.Plan[0]
		order.Leaf[0]++
		h.Name("t3", order)
	}, "co_dealer_commit", PairCounts{Shuffles: 2}},
	"an order with another hash": {func(p *inspecttest.Pair) {
		h, order := p.Commit()
		order.Leaf[0]++
		h.Name("t2", order)
	}, "co_dealer_commit", PairCounts{Shuffles: 1}},
	"a fork of the co-dealer that was given the request, too": {func(p *inspecttest.Pair) {
		h := asked(p, nil)
		p.See()
		p.Wait(60)
		h.Play(func(d *audit.Deal) { d.Blind.Deal.Leaf[0]++ })
		h.End(audit.OutcomeCompleted, audit.ReasonNone, nil)
		h.Follow(nil)
	}, "co_dealer_forked", PairCounts{Shuffles: 1, Requests: 1, OrdersChecked: 1}},
	"a deal of the co-dealer beyond its rules that was not played": {func(p *inspecttest.Pair) {
		h := asked(p, func(d *audit.Deal) { d.Checkpoint = 0 })
		p.See()
		p.Wait(60)
		h.End(audit.OutcomeVoid, void, unseen(h))
	}, "rule_checkpoint", PairCounts{Shuffles: 1, Requests: 1}},
	"an order that closes first": {func(p *inspecttest.Pair) {
		p.Begin("t2", func(s *inspecttest.Shuffle) { s.Commit.CloseBy += 3 * audit.OrderMargin })
	}, "co_dealer_commit", PairCounts{Shuffles: 1}},
	"another deal of the co-dealer": {func(p *inspecttest.Pair) {
		h := asked(p, nil)
		h.Play(func(d *audit.Deal) { d.Blind.Deal.Leaf[0]++ })
	}, "co_dealer_forked", PairCounts{Shuffles: 1, Requests: 1, Pending: 1}},
	"another root of the co-dealer": {func(p *inspecttest.Pair) {
		h := asked(p, nil)
		h.Play(func(d *audit.Deal) { d.Blind.Head.Root[0]++ })
	}, "co_dealer_forked", PairCounts{Shuffles: 1, Requests: 1, Matched: 1}},
	"another root of the house": {func(p *inspecttest.Pair) {
		h := asked(p, func(d *audit.Deal) { d.Asked.Head.Root[0]++ })
		h.Play(nil)
	}, "house_forked", PairCounts{Shuffles: 1, Requests: 1, Matched: 1}},
	"one deal of the co-dealer for two": {func(p *inspecttest.Pair) {
		h := asked(p, nil)
		again := &audit.Deal{Shuffle: h.A.ID, First: 2, Checkpoint: h.A.ID + 1,
			Runs: []audit.Run{{Count: 3, Purpose: audit.PurposeBoard, Public: true}}}
		h.Play(func(d *audit.Deal) {
			again.Blind = &audit.Blind{Deal: d.Blind.Deal, Head: d.Blind.Head, Values: h.B.Values[7:10]}
		})
		p.House.Append(again)
		h.End(audit.OutcomeCompleted, audit.ReasonNone, nil)
		h.Follow(nil)
	}, "co_dealer_deal", PairCounts{Shuffles: 1, Requests: 1, Matched: 1, OrdersChecked: 1}},
	"a close that names what was dealt": {func(p *inspecttest.Pair) {
		h := asked(p, nil)
		var blind *audit.Blind
		h.Play(func(d *audit.Deal) { blind = &audit.Blind{Deal: d.Blind.Deal, Head: d.Blind.Head} })
		h.End(audit.OutcomeVoid, void, func(c *audit.Close) { c.Blind = blind })
		h.Follow(nil)
	}, "co_dealer_deal", PairCounts{Shuffles: 1, Requests: 1, Matched: 1, OrdersChecked: 1}},
	"the co-dealer repeats a deal": {func(p *inspecttest.Pair) {
		h := asked(p, nil)
		again := *h.Asked
		p.Wait(1)
		p.See()
		h.Play(nil)
		h.Ask(nil, 1)
		p.See()
		p.Lab.Append(&again)
		p.Wait(1)
		p.See()
		h.End(audit.OutcomeVoid, void, nil)
		h.Follow(nil)
	}, "rule_place", PairCounts{Shuffles: 1, Requests: 3, Matched: 1, Unplayed: 1, OrdersChecked: 1}},
	"the co-dealer repeats a deal, and gives the second one": {func(p *inspecttest.Pair) {
		h := asked(p, nil)
		p.See()
		h.Give(h.Asked)
		p.See()
		h.Play(nil)
		p.Wait(60)
		h.End(audit.OutcomeCompleted, audit.ReasonNone, nil)
		h.Follow(nil)
	}, "rule_place", PairCounts{Shuffles: 1, Requests: 2, Matched: 1, OrdersChecked: 1}},
	"the co-dealer deals what nobody asked for behind what was not played": {func(p *inspecttest.Pair) {
		h := asked(p, nil)
		p.See()
		more := *h.Asked
		more.First = 2
		h.End(audit.OutcomeVoid, void, nil)
		p.Lab.Append(&more)
		h.Follow(func(c *audit.Close) { c.Follows.Places = 4 })
	}, "unasked", PairCounts{Shuffles: 1, Requests: 2, Unplayed: 1, OrdersChecked: 1}},
	"a deal that breaks a rule of the house": {func(p *inspecttest.Pair) {
		h := asked(p, nil)
		p.See()
		h.Play(func(d *audit.Deal) { d.Checkpoint = h.A.ID })
		h.End(audit.OutcomeCompleted, audit.ReasonNone, nil)
		h.Follow(nil)
	}, "rule_checkpoint", PairCounts{Shuffles: 1, Requests: 1, Matched: 1, OrdersChecked: 1}},
	"two requests ahead of an open shuffle": {func(p *inspecttest.Pair) {
		h := asked(p, nil)
		h.Ask(nil, 2)
	}, "looked", PairCounts{Shuffles: 1, Requests: 2, Pending: 1}},
	"a request behind an entry that was dealt behind": {func(p *inspecttest.Pair) {
		h := asked(p, nil)
		first, deal := h.Asked, h.Deal
		h.Ask(nil, 2)
		h.Asked, h.Deal = first, deal
		h.Play(nil)
	}, "looked", PairCounts{Shuffles: 1, Requests: 2, Matched: 1}},
	"a checkpoint of the co-dealer that is not there, at the end": {func(p *inspecttest.Pair) {
		h := asked(p, nil)
		h.Play(func(d *audit.Deal) { d.Blind.Head.Size = 100_000 })
		h.End(audit.OutcomeCompleted, audit.ReasonNone, nil)
		h.Follow(nil)
	}, "co_dealer_forked", PairCounts{Shuffles: 1, Requests: 1, Matched: 1, OrdersChecked: 1, Beyond: 1}},
	"a checkpoint of the co-dealer that is not there, and a request behind it": {func(p *inspecttest.Pair) {
		h := asked(p, nil)
		h.Play(func(d *audit.Deal) { d.Blind.Head.Size = 100_000 })
		h.Ask(nil, 1)
	}, "co_dealer_forked", PairCounts{Shuffles: 1, Requests: 2, Matched: 1, Pending: 1, Beyond: 1}},
	"a checkpoint of the house that is not there": {func(p *inspecttest.Pair) {
		h := asked(p, func(d *audit.Deal) { d.Asked.Head.Size = 100_000 })
		h.Play(nil)
	}, "house_forked", PairCounts{Shuffles: 1, Requests: 1, Matched: 1, Beyond: 1}},
	"a checkpoint of the house that is not there, for what was not played": {func(p *inspecttest.Pair) {
		h := asked(p, func(d *audit.Deal) { d.Asked.Head.Size = 100_000 })
		h.End(audit.OutcomeVoid, void, nil)
		h.Follow(nil)
	}, "house_forked", PairCounts{Shuffles: 1, Requests: 1, Unplayed: 1, OrdersChecked: 1, Beyond: 1}},
	"an open order": {func(p *inspecttest.Pair) {
		h := asked(p, nil)
		p.See()
		h.Play(nil)
		p.Wait(1)
		h.End(audit.OutcomeCompleted, audit.ReasonNone, nil)
		p.See()
	}, "", PairCounts{Shuffles: 1, Requests: 1, Matched: 1, BlindUnchecked: 1}},
	"a plan that names no commit": {func(p *inspecttest.Pair) {
		h, order := p.Commit()
		order.Index = 1
		h.Name("t2", order)
	}, "co_dealer_commit", PairCounts{Shuffles: 1}},
	"one order for four": {func(p *inspecttest.Pair) {
		h := p.Begin("t2")
		for range 3 {
			h.Name("t2", h.A.Commit.Context.Plan[0])
		}
	}, "co_dealer_commit", PairCounts{Shuffles: 4}},
	"a request behind a deal that names none": {func(p *inspecttest.Pair) {
		h := asked(p, nil)
		h.Play(func(d *audit.Deal) { d.Blind = nil })
		h.Ask(nil, 1)
	}, "looked rule_co_dealer", PairCounts{Shuffles: 1, Requests: 2, Pending: 1}},
	"asked in front of a mix that is not there": {func(p *inspecttest.Pair) {
		h := p.Begin("t2", inspecttest.Mixed(1, 0, true))
		p.See()
		h.Ask(nil, 2)
	}, "", PairCounts{Shuffles: 1, Requests: 1, Pending: 1}},
	"asked behind a deal before the last one": {func(p *inspecttest.Pair) {
		h := asked(p, nil)
		h.Play(nil)
		first := p.House.Leaf
		h.Ask(nil, 1)
		h.Play(nil)
		h.Ask(func(d *audit.Deal) { d.Asked.After = first }, 1)
		h.Play(nil)
	}, "looked_elsewhere", PairCounts{Shuffles: 1, Requests: 3, Matched: 3}},
	"other places": {func(p *inspecttest.Pair) {
		h := asked(p, nil)
		h.Play(func(d *audit.Deal) { d.First = 2 })
	}, "other_runs rule_place", PairCounts{Shuffles: 1, Requests: 1, Matched: 1}},
	"a burn in front of a board": {func(p *inspecttest.Pair) {
		h := asked(p, func(d *audit.Deal) {
			d.Runs = []audit.Run{{Count: 1, Purpose: audit.PurposeBurn},
				{Count: 2, Purpose: audit.PurposeBoard, Public: true}}
		})
		p.See()
		h.Play(nil)
		h.End(audit.OutcomeCompleted, audit.ReasonNone, nil)
		h.Follow(nil)
	}, "", PairCounts{Shuffles: 1, Requests: 1, Matched: 1, Blind: 1, OrdersChecked: 1}},
	"a deal of the co-dealer beyond its rules, and one within them": {func(p *inspecttest.Pair) {
		h := asked(p, func(d *audit.Deal) { d.Checkpoint = 0 })
		h.Ask(nil, 2)
		h.End(audit.OutcomeVoid, void, nil)
	}, "rule_checkpoint", PairCounts{Shuffles: 1, Requests: 2, Unplayed: 1}},
	"a request in front of one behind a draft": {func(p *inspecttest.Pair) {
		h := asked(p, nil)
		h.Ask(func(d *audit.Deal) { d.Asked.After[0]++ }, 2)
		h.End(audit.OutcomeVoid, void, unseen(h))
	}, "looked looked_elsewhere", PairCounts{Shuffles: 1, Requests: 2}},
	"a request in front of one behind what the evidence has not": {func(p *inspecttest.Pair) {
		h := asked(p, nil)
		h.Ask(func(d *audit.Deal) { d.Asked.After[0]++ }, 2)
	}, "", PairCounts{Shuffles: 1, Requests: 2, Pending: 2}},
	"a request that stands twice, in front of one behind a draft": {func(p *inspecttest.Pair) {
		h := asked(p, nil)
		h.Give(h.Asked)
		h.Ask(func(d *audit.Deal) { d.Asked.After[0]++ }, 2)
		h.End(audit.OutcomeVoid, void, unseen(h))
	}, "looked_elsewhere rule_place", PairCounts{Shuffles: 1, Requests: 3}},
	"a checkpoint of the house that is not there, of long before": {func(p *inspecttest.Pair) {
		asked(p, func(d *audit.Deal) { d.Asked.Head.Size = 100_000 })
		p.See()
		p.Wait(1)
	}, "house_forked", PairCounts{Shuffles: 1, Requests: 1, Pending: 1, Beyond: 1}},
	"an order that is void, from which nothing was dealt": {func(p *inspecttest.Pair) {
		h := p.Begin("t2")
		p.See()
		h.Follow(func(c *audit.Close) { c.Outcome, c.Reason, c.Follows = audit.OutcomeVoid, audit.ReasonMisdeal, nil })
	}, "", PairCounts{Shuffles: 1, OrdersChecked: 1}},
	"an order whose tape is lost": {func(p *inspecttest.Pair) {
		p.Lab.Hire(inspecttest.Admin, audit.RoleAdmin)
		h := asked(p, nil)
		h.Play(nil)
		h.Follow(func(c *audit.Close) {
			c.Outcome, c.Reason, c.Follows = audit.OutcomeVoid, audit.ReasonTapeLost, nil
			c.Form, c.Tape = audit.FormNone, nil
		})
	}, "tape_lost", PairCounts{Shuffles: 1, Requests: 1, Matched: 1}},
	"an order that is disclosed first": {func(p *inspecttest.Pair) {
		h := asked(p, nil)
		h.Play(nil)
		h.Follow(nil)
	}, "disclosed_early", PairCounts{Shuffles: 1, Requests: 1, Matched: 1, OrdersChecked: 1}},
}

// TestPairFaults: each lie of a house or of a co-dealer is the fault that it is, and honest failures are none.
func TestPairFaults(t *testing.T) {
	for name, x := range pairFaults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _ := tellPair(t, x.tell)
			all := maps.Clone(r.FaultCodes)
			maps.Copy(all, r.House.FaultCodes)
			maps.Copy(all, r.CoDealer.FaultCodes)
			codes := slices.Sorted(maps.Keys(all))
			if strings.Join(codes, " ") != x.faults || (x.faults == "") != (r.Verdict == Proved) {
				t.Errorf("%s, faults %v, want %q: %s %s %s", r.Verdict, codes, x.faults, asJSON(t, r.Faults),
					asJSON(t, r.House.Faults), asJSON(t, r.CoDealer.Faults))
			}
			want := x.want
			good := PairCounts{Shuffles: 2, Blind: 2, OrdersChecked: 2, Requests: 8, Matched: 8}
			if strings.Contains(x.faults, "_forked") {
				good.Blind = 0
			}
			if sum(&want, &good); r.Totals != want {
				t.Errorf("%+v, want %+v", r.Totals, want)
			}
		})
	}
}
