package inspect

import (
	"crypto/ed25519"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/inspect/inspecttest"
)

// inspectPair judges two bundles, to a reader who trusts both ledgers.
func inspectPair(t testing.TB, house, lab string, change ...func(*PairOptions)) (*PairReport, error) {
	t.Helper()
	a, err := OpenBundle(house)
	must(t, err)
	defer a.Close()
	b, err := OpenBundle(lab)
	must(t, err)
	defer b.Close()
	_, _, at := a.Period()
	o := PairOptions{Limit: time.Hour,
		House:    Options{Policy: inspecttest.PolicyOf(inspecttest.Origin, 2, "w1", "w2", "w3"), At: at},
		CoDealer: Options{Policy: inspecttest.PolicyOf(inspecttest.CoDealer, 2, "w1", "w2", "w3"), At: at}}
	for _, f := range change {
		f(&o)
	}
	return Pair(t.Context(), a, b, o)
}

// tellPair writes a pair between two good hands, and judges it.
func tellPair(t *testing.T, tell func(*inspecttest.Pair)) (*PairReport, *inspecttest.Pair) {
	t.Helper()
	p := inspecttest.NewPair(t.TempDir(), t.TempDir())
	p.Play("t1")
	tell(p)
	p.Wait(60)
	p.Play("t1", inspecttest.Mixed(1, 0, true))
	p.Wait(60)
	p.See()
	p.Finish()
	r, err := inspectPair(t, p.House.Dir, p.Lab.Dir)
	must(t, err)
	return r, p
}

var void = audit.ReasonCoDealer

// TestPair: an honest pair holds; what the house's ledger alone cannot show, both show.
func TestPair(t *testing.T) {
	r, p := tellPair(t, func(*inspecttest.Pair) {})
	if len(p.House.Illegal)+len(p.Lab.Illegal) > 0 {
		t.Fatalf("the generator broke rules: %v, %v", p.House.Illegal, p.Lab.Illegal)
	}
	want := PairCounts{Shuffles: 2, Blind: 2, OrdersChecked: 2, Requests: 8, Matched: 8}
	if r.Verdict != Proved || !r.Judged || r.NotBlind != "" || r.Totals != want ||
		r.House.Totals.NeedsCoDealer != 0 || r.House.Totals.Levels[LevelWitnessed] != 2 {
		t.Errorf("%s", asJSON(t, r))
	}
}

// asked begins a hand whose first two places the co-dealer deals, change being of the request.
func asked(p *inspecttest.Pair, change func(*audit.Deal)) *inspecttest.Hand {
	h := p.Begin("t2")
	p.See()
	h.Ask(change, 2)
	return h
}

// unseen leaves out of a close what was not played, and what the house saw of the co-dealer's
// ledger since the order.
func unseen(h *inspecttest.Hand) func(*audit.Close) {
	return func(c *audit.Close) { c.Blind = &audit.Blind{Head: h.Order} }
}

var pairFaults = map[string]struct {
	tell   func(*inspecttest.Pair)
	faults string     // of the pair, by code
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
	}, "looked", PairCounts{Shuffles: 1, Requests: 1}},
	"a close behind what the witnesses saw": {func(p *inspecttest.Pair) {
		h := asked(p, nil)
		p.See()
		p.Wait(12)
		h.End(audit.OutcomeVoid, void, unseen(h))
	}, "looked", PairCounts{Shuffles: 1, Requests: 1}},
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
	}, "co_dealer_forked", PairCounts{Shuffles: 1, Requests: 1, Unplayed: 1, OrdersChecked: 1}},
	"a commit of the house that is not there": {func(p *inspecttest.Pair) {
		asked(p, func(d *audit.Deal) { d.Asked.Commit.Index, d.Asked.Head.Size = 1000, 1001 })
		p.See()
	}, "house_forked", PairCounts{Shuffles: 1, Requests: 1, Pending: 1}},
	"an entry of the house that is not there": {func(p *inspecttest.Pair) {
		asked(p, func(d *audit.Deal) { d.Asked.After[0], d.Asked.Head.Size = 1, 1000 })
		p.See()
	}, "house_forked", PairCounts{Shuffles: 1, Requests: 1, Pending: 1}},
	"a close of the house that is not there": {func(p *inspecttest.Pair) {
		h := asked(p, nil)
		h.Play(nil)
		h.End(audit.OutcomeCompleted, audit.ReasonNone, nil)
		h.Follow(func(c *audit.Close) { c.Follows.Index = 1000 })
		p.See()
	}, "house_forked", PairCounts{Shuffles: 1, Requests: 1, Matched: 1, OrdersChecked: 1}},
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
	}, "looked", PairCounts{Shuffles: 1, Requests: 1}},
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
		asked(p, func(d *audit.Deal) { d.Asked.After[0]++ })
	}, "looked_elsewhere", PairCounts{Shuffles: 1, Requests: 1}},
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
	"an open order": {func(p *inspecttest.Pair) {
		h := asked(p, nil)
		p.See()
		h.Play(nil)
		p.Wait(1)
		h.End(audit.OutcomeCompleted, audit.ReasonNone, nil)
		p.See()
	}, "", PairCounts{Shuffles: 1, Requests: 1, Matched: 1, BlindUnchecked: 1}},
	"an order that is disclosed first": {func(p *inspecttest.Pair) {
		h := asked(p, nil)
		h.Play(nil)
		h.Follow(nil)
	}, "disclosed_early", PairCounts{Shuffles: 1, Requests: 1, Matched: 1, OrdersChecked: 1}},
}

// TestPairFaults: each lie of a house or of a co-dealer is the fault that it is, and honest failures
// are none.
func TestPairFaults(t *testing.T) {
	for name, x := range pairFaults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _ := tellPair(t, x.tell)
			if r.House.FaultCount+r.CoDealer.FaultCount > 0 {
				t.Errorf("a ledger alone has faults: %s, %s", asJSON(t, r.House.Faults), asJSON(t, r.CoDealer.Faults))
			}
			codes := slices.Sorted(maps.Keys(r.FaultCodes))
			if strings.Join(codes, " ") != x.faults || (x.faults == "") != (r.Verdict == Proved) {
				t.Errorf("%s, faults %v, want %q: %s", r.Verdict, codes, x.faults, asJSON(t, r.Faults))
			}
			want := x.want
			good := PairCounts{Shuffles: 2, Blind: 2, OrdersChecked: 2, Requests: 8, Matched: 8}
			if strings.HasSuffix(x.faults, "_forked") && strings.Contains(name, "root") {
				good.Blind = 0
			}
			if want.add(&good); r.Totals != want {
				t.Errorf("%+v, want %+v", r.Totals, want)
			}
		})
	}
}

// TestPairPeriod: what is outside the period is not listed.
func TestPairPeriod(t *testing.T) {
	p := inspecttest.NewPair(t.TempDir(), t.TempDir())
	var from int64
	for range 2 {
		p.Wait(60)
		from = p.House.Now
		h := asked(p, nil)
		p.Wait(1)
		p.See()
		h.End(audit.OutcomeVoid, void, nil)
		h.Follow(nil)
	}
	p.See()
	p.Finish()
	for begin, want := range map[int64]int{0: 2, from: 1, p.House.Now + 1: 0} {
		r, err := inspectPair(t, p.House.Dir, p.Lab.Dir, func(o *PairOptions) { o.House.From = begin })
		must(t, err)
		if r.Verdict != Proved || int(r.Totals.Unplayed) != want || len(r.Unplayed) != want {
			t.Errorf("from %d: %s, %d, listed %d, want %d", begin, r.Verdict, r.Totals.Unplayed, len(r.Unplayed), want)
		}
	}
}

// TestFirstLines: of more lines than a report lists, the first ones stay.
func TestFirstLines(t *testing.T) {
	lines := make([]PairLine, MaxListed+5)
	for i := range lines {
		lines[i].Request = 1<<63 + uint64(len(lines)-i)
	}
	if lines = firstLines(lines); len(lines) != MaxListed || lines[0].Request != 1<<63+1 {
		t.Errorf("%d lines from %d on", len(lines), lines[0].Request)
	}
}

// TestRaise: what the house's ledger did not count is not taken out of its figures.
func TestRaise(t *testing.T) {
	r := &Report{Tables: []TableCounts{{Table: "t1", Counts: *newCounts()}}, Totals: *newCounts()}
	r.raise("t1", &PairTable{held: 1, raised: 1})
	for _, c := range []*Counts{&r.Tables[0].Counts, &r.Totals} {
		if c.NeedsCoDealer != 0 || len(c.Levels) != 0 {
			t.Errorf("%d, %v", c.NeedsCoDealer, c.Levels)
		}
	}
}

// TestPairNotDealt: a hand that nothing was dealt from has the level that it would have without a co-dealer.
func TestPairNotDealt(t *testing.T) {
	r, _ := tellPair(t, func(p *inspecttest.Pair) {
		h := asked(p, nil)
		p.Wait(1)
		p.See()
		h.End(audit.OutcomeVoid, void, nil)
		p.See()
		h.Follow(nil)
	})
	if n := r.House.Totals; r.Verdict != Proved || n.Levels[LevelWitnessed] != 3 || n.NeedsCoDealer != 0 {
		t.Errorf("%s", asJSON(t, n))
	}
}

// TestPairNotAsked: a deal of the house behind one that nobody asked for is a fault of the pair, too.
func TestPairNotAsked(t *testing.T) {
	r, _ := tellPair(t, func(p *inspecttest.Pair) {
		h := p.Begin("t2")
		p.See()
		d := audit.Deal{Shuffle: h.B.ID, Checkpoint: h.B.ID + 1,
			Runs: []audit.Run{{Count: 2, Purpose: audit.PurposeBoard, Public: true}}}
		by := d
		by.Shuffle, by.Checkpoint = h.A.ID, h.A.ID+1
		by.Blind = &audit.Blind{Deal: audit.Foreign{Index: p.Lab.Append(&d), Leaf: p.Lab.Leaf}, Values: h.B.Values[:2]}
		by.Blind.Head = audit.Head{Size: p.Lab.Size, Root: p.Lab.Root()}
		p.See()
		p.House.Append(&by)
		h.End(audit.OutcomeCompleted, audit.ReasonNone, nil)
		p.See()
		h.Follow(nil)
	})
	if r.FaultCodes[CodeOtherDeal] != 1 || r.Totals.Blind != 2 || r.House.FaultCount != 0 {
		t.Errorf("%d blind, %v: %s", r.Totals.Blind, r.FaultCodes, asJSON(t, r.House.Faults))
	}
}

// TestPairTrust: without a witness of both, or without trust, nothing is blind; parties that share a
// key are not two.
func TestPairTrust(t *testing.T) {
	p := inspecttest.NewPair(t.TempDir(), t.TempDir())
	p.Play("t1")
	p.Wait(1)
	p.See()
	p.Finish()
	for name, x := range map[string]struct {
		change   func(*PairOptions)
		notBlind string
		blind    uint64
		fault    string
	}{
		"both": {func(*PairOptions) {}, "", 1, ""},
		"keys only": {func(o *PairOptions) {
			o.House = Options{VKey: inspecttest.VKey()}
			o.CoDealer = Options{VKey: inspecttest.VKeyOf(inspecttest.CoDealer)}
		}, notShared, 0, ""},
		"no trust in the co-dealer": {func(o *PairOptions) { o.CoDealer.Policy = nil }, notPinned, 0, ""},
		"other witnesses": {func(o *PairOptions) {
			o.House.Policy = inspecttest.PolicyOf(inspecttest.Origin, 1, "w1")
			o.CoDealer.Policy = inspecttest.PolicyOf(inspecttest.CoDealer, 1, "w2")
		}, notShared, 0, ""},
		"one witness is enough for two histories": {func(o *PairOptions) {
			o.CoDealer.Policy = inspecttest.PolicyOf(inspecttest.CoDealer, 1, "w1", "w2", "w3")
		}, notShared, 0, ""},
		"a key of both": {func(o *PairOptions) {
			o.CoDealer.Policy = append([]byte("log "+inspecttest.VKey()+"\n"), o.CoDealer.Policy...)
		}, "", 0, CodeNotApart},
		"a witness with the house's name": {func(o *PairOptions) {
			vkey, err := audit.WitnessVKey(inspecttest.Origin, ed25519.PublicKey(inspecttest.Public(inspecttest.Key("x"))[1:]))
			must(t, err)
			o.CoDealer.Policy = append([]byte("witness x "+vkey+"\n"), o.CoDealer.Policy...)
		}, "", 0, CodeNotApart},
	} {
		r, err := inspectPair(t, p.House.Dir, p.Lab.Dir, x.change)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if r.NotBlind != x.notBlind || r.Totals.Blind != x.blind || r.House.Totals.NeedsCoDealer != 1-x.blind ||
			len(r.FaultCodes) > 0 != (x.fault != "") || x.fault != "" && r.FaultCodes[x.fault] == 0 {
			t.Errorf("%s: %q, %d blind, %d need a co-dealer: %v", name, r.NotBlind, r.Totals.Blind,
				r.House.Totals.NeedsCoDealer, r.FaultCodes)
		}
	}
}

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
			PairCounts{Shuffles: 1, Blind: 1, OrdersChecked: 1, Requests: 8, Matched: 4, Pending: 4}},
		"the co-dealer's is older": {1, 0,
			PairCounts{Shuffles: 2, Blind: 1, OrdersChecked: 1, Requests: 4, Matched: 4, Beyond: 5}},
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
	for seen, blind := range map[bool]uint64{true: 1, false: 0} {
		p := inspecttest.NewPair(t.TempDir(), t.TempDir())
		h := asked(p, nil)
		p.See()
		h.Play(nil)
		p.Wait(1)
		h.End(audit.OutcomeCompleted, audit.ReasonNone, nil)
		p.Wait(1)
		if seen {
			p.Lab.Start()
		}
		p.See()
		p.Finish()
		r, err := inspectPair(t, p.House.Dir, p.Lab.Dir)
		must(t, err)
		if r.Verdict != Proved || r.Totals.BlindUnchecked != blind || r.Totals.Blind != 0 ||
			r.House.Totals.NeedsCoDealer != 1 || r.House.Totals.Levels[LevelWitnessed] != 0 {
			t.Errorf("seen %t: %s, %+v", seen, r.Verdict, r.Totals)
		}
	}
}

// TestPairDamaged: with evidence lost, the two ledgers are not held against each other.
func TestPairDamaged(t *testing.T) {
	for side := range 2 {
		p := inspecttest.NewPair(t.TempDir(), t.TempDir())
		h := asked(p, nil)
		h.End(audit.OutcomeVoid, void, unseen(h))
		p.Wait(1)
		p.See()
		p.Finish()
		dir := []string{p.House.Dir, p.Lab.Dir}[side]
		files, err := filepath.Glob(filepath.Join(dir, "tile/entries/*/*"))
		must(t, err)
		b, err := os.ReadFile(files[0])
		must(t, err)
		b[len(b)/2]++
		must(t, os.WriteFile(files[0], b, 0o644))
		r, err := inspectPair(t, p.House.Dir, p.Lab.Dir)
		must(t, err)
		if r.Verdict != Failed || r.Judged || r.FaultCount > 0 || len(r.Notes) != 1 {
			t.Errorf("%s, judged %t, %d faults, %q", r.Verdict, r.Judged, r.FaultCount, r.Notes)
		}
	}
}

// TestNoPair: bundles that are no pair are refused in a sentence that says why.
func TestNoPair(t *testing.T) {
	p := inspecttest.NewPair(t.TempDir(), t.TempDir())
	p.Play("t1")
	p.Finish()
	for _, x := range []struct{ house, lab, want string }{
		{p.House.Dir, p.House.Dir, "both bundles are of the ledger " + inspecttest.Origin},
		{p.Lab.Dir, p.House.Dir, "the ledger " + inspecttest.CoDealer + " never named " + inspecttest.Origin},
	} {
		r, err := inspectPair(t, x.house, x.lab, func(o *PairOptions) { *o = PairOptions{} })
		if r != nil || err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%v, want %q", err, x.want)
		}
	}
}
