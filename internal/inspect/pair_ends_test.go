package inspect

import (
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/inspect/inspecttest"
)

// TestPairCut: whatever of the two bundles is older, nobody is accused, and what the older one ends in front of is
// not said to hold.
func TestPairCut(t *testing.T) {
	dirs := [2][2]string{}
	for i, hands := range []int{1, 2} {
		dirs[i] = [2]string{t.TempDir(), t.TempDir()}
		p := inspecttest.NewPair(dirs[i][0], dirs[i][1])
		for range hands {
			p.Play("t1")
		}
		p.Finish()
	}
	for name, x := range map[string]struct {
		house, lab int
		want       PairCounts
	}{
		"the house's is older": {0, 1,
			PairCounts{Shuffles: 1, Blind: 1, OrdersChecked: 1, Requests: 8, Matched: 4, Pending: 4, Beyond: 5}},
		"the co-dealer's is older": {1, 0,
			PairCounts{Shuffles: 2, Blind: 1, OrdersChecked: 1, Requests: 4, Matched: 4, Beyond: 6}},
	} {
		r, err := inspectPair(t, dirs[x.house][0], dirs[x.lab][1])
		must(t, err)
		if r.Verdict != Proved || r.Totals != x.want || r.House.Totals.NeedsCoDealer != x.want.Shuffles-1 {
			t.Errorf("%s: %s, %+v, %s", name, r.Verdict, r.Totals, asJSON(t, r.Faults))
		}
	}
}

// TestPairEnd: of an order that is open and was not seen since the close of its shuffle, nobody knows whether more was
// dealt.
func TestPairEnd(t *testing.T) {
	later := func(p *inspecttest.Pair) {
		p.See()
		p.Wait(1)
		p.Lab.Start()
	}
	for name, x := range map[string]struct {
		end   func(*inspecttest.Pair)
		blind uint64
	}{
		"seen since then":                 {later, 1},
		"not seen":                        {func(*inspecttest.Pair) {}, 0},
		"seen in the second of the close": {func(p *inspecttest.Pair) { p.Lab.Start() }, 0},
	} {
		p := inspecttest.NewPair(t.TempDir(), t.TempDir())
		h := asked(p, nil)
		p.See()
		h.Play(nil)
		p.Wait(1)
		h.End(audit.OutcomeCompleted, audit.ReasonNone, nil)
		p.Wait(1)
		x.end(p)
		p.See()
		p.Finish()
		r, err := inspectPair(t, p.House.Dir, p.Lab.Dir)
		must(t, err)
		if r.Verdict != Proved || r.Totals.BlindUnchecked != x.blind || r.Totals.Blind != 0 ||
			r.House.Totals.NeedsCoDealer != 1 || r.House.Totals.Levels[LevelWitnessed] != 0 {
			t.Errorf("%s: %s, %+v", name, r.Verdict, r.Totals)
		}
	}
}

// TestPairBeyond: a checkpoint that lies beyond the other ledger's evidence, which no witness has seen since, leaves
// its hand undecided. One that covers an entry which was written later is a fork, and then no hand is blind.
func TestPairBeyond(t *testing.T) {
	const far = 100_000
	nothing := func(*inspecttest.Hand) {}
	for name, x := range map[string]struct {
		asked  func(*audit.Deal)
		dealt  func(*audit.Deal)
		closed func(*audit.Close)
		after  func(*inspecttest.Hand)
		fault  string
	}{
		"of the house's deal":  {dealt: func(d *audit.Deal) { d.Blind.Head.Size = far }, after: nothing},
		"of the house's close": {closed: func(c *audit.Close) { c.Blind.Head.Size = far }, after: nothing},
		"of the house's close, and followed": {closed: func(c *audit.Close) { c.Blind.Head.Size = far },
			fault: CodeCoDealerForked},
		"of the co-dealer's deal": {asked: func(d *audit.Deal) { d.Asked.Head.Size = far }, fault: CodeHouseForked},
		"of the house's deal, and the next behind it": {dealt: func(d *audit.Deal) { d.Blind.Head.Size = far },
			after: func(h *inspecttest.Hand) { h.Ask(nil, 1) }, fault: CodeCoDealerForked},
	} {
		p := inspecttest.NewPair(t.TempDir(), t.TempDir())
		p.Play("t1")
		p.Wait(1)
		h := asked(p, x.asked)
		h.Play(x.dealt)
		if x.closed != nil || x.asked != nil {
			h.End(audit.OutcomeCompleted, audit.ReasonNone, x.closed)
		}
		if x.after == nil {
			x.after = func(h *inspecttest.Hand) { h.Follow(nil) }
		}
		x.after(h)
		p.See()
		p.Finish()
		r, err := inspectPair(t, p.House.Dir, p.Lab.Dir)
		must(t, err)
		blind := uint64(1)
		if x.fault != "" {
			blind = 0
		}
		if r.Totals.Beyond != 1 || r.Totals.Blind != blind || r.House.Totals.NeedsCoDealer != 2-blind ||
			r.Tables[0].Blind != blind || r.FaultCount != 1-blind || x.fault != "" && r.FaultCodes[x.fault] != 1 {
			t.Errorf("%s: %+v, %d need a co-dealer, %s", name, r.Totals, r.House.Totals.NeedsCoDealer,
				asJSON(t, r.Faults))
		}
	}
}

// TestPairBounds: what one shuffle has of illegal deals is written down up to a bound, and what many entries say of the
// other ledger's tree once.
func TestPairBounds(t *testing.T) {
	const most = 1_024 // docs/SPEC-BLIND.md section 9
	r, _ := tellPair(t, func(p *inspecttest.Pair) {
		h := asked(p, nil)
		for range most + 3 {
			h.Give(h.Asked)
		}
	})
	if r.CoDealer.FaultCodes[RulePrefix+audit.RulePlace] != most+3 || r.Totals.Requests != 8+1+most {
		t.Errorf("%v, %+v", r.CoDealer.FaultCodes, r.Totals)
	}

	s := &side{which: sideHouse, work: &pairWork{sizes: [2]uint64{10, 10}}, claimed: map[audit.Head]bool{}}
	one, other := audit.Head{Size: 3, Root: [32]byte{2}}, audit.Head{Size: 3, Root: [32]byte{1}}
	for i, h := range []audit.Head{one, one, other, {Size: 11}} {
		s.claim(h, uint64(i))
	}
	clear(s.claimed)
	s.claim(one, 9)
	part := 3 * (workParts - 1) / 10
	b, err := s.work.claims[sideCoDealer].read(part)
	must(t, err)
	all, err := claimsOf(&s.work.claims[sideCoDealer], part)
	must(t, err)
	if len(b) != 3*claimLen || len(all) != 2 || all[0] != (claim{3, 2, other.Root}) ||
		all[1] != (claim{3, 0, tlog.Hash(one.Root)}) {
		t.Errorf("%d bytes, %v", len(b), all)
	}
}
