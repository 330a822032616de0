package inspect

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"shuffled/internal/audit"
	"shuffled/internal/inspect/inspecttest"
)

// house deals hands of hold'em at a pace: the time between two entries of a hand is the pace to almost twice the pace.
type house struct {
	*inspecttest.Ledger
	pace int64 // milliseconds
}

func newHouse(t *testing.T, pace int64) *house {
	t.Helper()
	return &house{inspecttest.New(t.TempDir(), t.Name(), inspecttest.Plain()), pace}
}

func (h *house) wait() {
	h.Now += h.pace + int64(binary.BigEndian.Uint32(h.Bytes(4)))%(h.pace*9/10+1)
}

// streets are the cards of a hand's deals.
var streets = []int{18, 3, 1, 1}

// hand is an honest hand.
func (h *house) hand(table string) {
	s := h.Commit(table)
	for _, n := range streets {
		h.wait()
		s.Deal(n, 0)
	}
	h.wait()
	s.Close(audit.OutcomeEndedEarly, audit.ReasonNone)
}

// ahead is a hand whose streets after the first a thief deals in one go, by this actor; the
// game goes on at its own pace.
func (h *house) ahead(table string, thief audit.Actor) {
	s := h.Commit(table)
	h.wait()
	s.Deal(streets[0], 0)
	next := streets[0]
	for _, n := range streets[1:] {
		h.Now += h.pace / 20
		h.By(thief, &audit.Deal{Shuffle: s.ID, Checkpoint: s.ID + 1, First: next,
			Runs: []audit.Run{{Count: n, Purpose: audit.PurposeBoard}}})
		next += n
	}
	for range 2 * len(streets) {
		h.wait()
	}
	s.Close(audit.OutcomeEndedEarly, audit.ReasonNone)
}

func (h *house) report(t *testing.T) *Report {
	t.Helper()
	if len(h.Illegal) > 0 {
		t.Fatalf("the house broke rules: %v", h.Illegal)
	}
	h.Finish()
	r := inspectDir(t, h.Dir, Options{VKey: inspecttest.VKey()})
	if r.Verdict != Proved {
		t.Fatal(asJSON(t, r))
	}
	return r
}

// paces are those of a machine that plays by itself, of a game online, and of one at a table.
var paces = map[string]int64{"50 ms": 50, "6 s": 6_000, "2 min": 120_000}

// TestHonestPace: an honest game shows nothing, at any pace.
func TestHonestPace(t *testing.T) {
	t.Parallel()
	for name, pace := range paces {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, pace)
			for range 200 {
				h.hand("t1")
			}
			d := h.report(t).Dealing
			if len(d.Tables) > 0 || d.Rest != nil || d.Totals != (DealingCounts{Deals: 800}) {
				t.Errorf("%s", asJSON(t, d))
			}
		})
	}
}

// TestExposed: cards that were exposed by mistake show at their table, a showdown does not.
func TestExposed(t *testing.T) {
	t.Parallel()
	h := newHouse(t, 6_000)
	for _, table := range []string{"t1", "t2"} {
		s := h.Commit(table)
		h.Append(&audit.Deal{Shuffle: s.ID, Checkpoint: s.ID + 1, Runs: []audit.Run{
			{Count: 4, Purpose: audit.PurposeSeat, Recipient: "seat-1"}, {Count: 1, Purpose: audit.PurposeBurn}}})
		h.Append(&audit.Reveal{Shuffle: s.ID, Exposed: table == "t2", Places: []uint16{1}})
		h.Append(&audit.Reveal{Shuffle: s.ID, Final: true, Places: []uint16{0, 4}})
		s.Close(audit.OutcomeCompleted, audit.ReasonNone)
	}
	d := h.report(t).Dealing
	if d.Totals != (DealingCounts{Deals: 2, Reveals: 4, Exposed: 1}) || len(d.Tables) != 1 ||
		d.Tables[0].Table != "t2" || d.Tables[0].DealingCounts != (DealingCounts{Deals: 1, Reveals: 2, Exposed: 1}) {
		t.Errorf("%s", asJSON(t, d))
	}
}

// TestSetAside: what a close of its table set aside counts as void, however it ends, and for the identity that
// committed to it, also when another one owns it at the end. The house deals on at once.
func TestSetAside(t *testing.T) {
	t.Parallel()
	h := newHouse(t, 6_000)
	other := audit.Actor{Identity: "other", Credential: "other-1"}
	h.Hire(other, audit.RoleDealer)
	h.hand("t1")
	mixed, taken, late := h.Commit("t1", inspecttest.Mixed(1, 0, false)), h.Commit("t1"), h.Commit("t1")
	mixed.Mix(h.Size)
	h.Commit("t1") // stays open
	h.Append(&audit.Event{Kind: audit.EventTableClose, Name: "t1"})
	h.Append(&audit.Event{Kind: audit.EventTableOpen, Name: "t1"})
	h.hand("t1")
	mixed.Close(audit.OutcomeEndedEarly, audit.ReasonNone)
	h.By(other, &audit.Takeover{Shuffle: taken.ID, Extent: audit.ExtentClose, Reason: "table 1"})
	h.By(other, taken.Closing(audit.OutcomeVoid, audit.ReasonMisdeal))
	h.Now = late.Commit.CloseBy
	late.Close(audit.OutcomeExpired, audit.ReasonNone)
	c := h.report(t).Tables[0].Counts
	if c.Void != 3 || c.VoidBy["set_aside"] != 3 || len(c.VoidBy) != 1 || c.Expired != 0 || c.EndedEarly != 2 ||
		c.Open != 1 || c.Shares.Void != 0.6 || c.SetAside["dealer"] != 4 || len(c.SetAside) != 1 ||
		c.SetAsideMixed != 1 {
		t.Errorf("%s", asJSON(t, c))
	}
}

// TestNotDealt: a hand that ends as it should, and of which nothing was dealt, counts as void, unless an entry between
// its commit and its close is lost, which may be its deal.
func TestNotDealt(t *testing.T) {
	t.Parallel()
	h := newHouse(t, 6_000)
	h.hand("t1")
	h.Commit("t1").Close(audit.OutcomeEndedEarly, audit.ReasonNone)
	if c := h.report(t).Tables[0].Counts; c.Void != 1 || c.VoidBy["not_dealt"] != 1 || c.EndedEarly != 1 {
		t.Errorf("%s", asJSON(t, c))
	}
	h = newHouse(t, 6_000)
	s := h.Commit("t1")
	s.Deal(1, 0)
	s.Close(audit.OutcomeEndedEarly, audit.ReasonNone)
	h.Finish()
	b := &broken{t, h.Dir}
	b.flipEntry(b.tail("tile/entries"), int(s.ID)+1)
	r := inspectDir(t, h.Dir, Options{VKey: inspecttest.VKey()})
	if c := r.Tables[0].Counts; r.Verdict != Failed || c.Void != 0 || c.EndedEarly != 1 {
		t.Errorf("%s", asJSON(t, r))
	}
}

// TestDealingAhead: deals ahead of the game show, with another credential and with the
// stolen token itself, and only at their table.
func TestDealingAhead(t *testing.T) {
	t.Parallel()
	second := audit.Actor{Identity: inspecttest.Dealer.Identity, Credential: "dealer-2"}
	for name, pace := range paces {
		for _, thief := range []audit.Actor{inspecttest.Dealer, second} {
			t.Run(name+" "+thief.Credential, func(t *testing.T) {
				t.Parallel()
				h := newHouse(t, pace)
				h.Hire(second, audit.RoleDealer)
				for i := range 40 {
					h.hand("t2")
					if i%20 == 7 {
						h.ahead("t1", thief)
					} else {
						h.hand("t1")
					}
				}
				d := h.report(t).Dealing
				want := DealingCounts{Deals: 160, InOneGo: 6, LongBefore: 2}
				if thief == second {
					want.Credentials = 2
				}
				if len(d.Tables) != 1 || d.Tables[0].Table != "t1" || d.Tables[0].DealingCounts != want {
					t.Fatalf("%s", asJSON(t, d))
				}
				if m := d.Tables[0].Median; m == nil || int64(m[0]) > 2*pace || int64(m[1]) < pace {
					t.Errorf("median gap %v at a pace of %d", m, pace)
				}
				if want.Deals *= 2; d.Totals != want {
					t.Errorf("totals %+v", d.Totals)
				}
			})
		}
	}
}

// TestDealingOfOtherPeriods: the figures are about shuffles of the period.
func TestDealingOfOtherPeriods(t *testing.T) {
	t.Parallel()
	h := newHouse(t, 6_000)
	for range 10 {
		h.hand("t1")
	}
	h.ahead("t1", inspecttest.Dealer)
	h.wait()
	from := h.Now
	h.hand("t1")
	h.report(t)
	r := inspectDir(t, h.Dir, Options{VKey: inspecttest.VKey(), From: from})
	if d := r.Dealing; len(d.Tables) > 0 || d.Totals != (DealingCounts{Deals: 4}) {
		t.Errorf("%s", asJSON(t, d))
	}
}

// TestManyTables: tables beyond the list are summed.
func TestManyTables(t *testing.T) {
	t.Parallel()
	f := &fold{figures: figures{paces: make(map[string]*pace)}}
	for i := range MaxListed + 3 {
		f.paces[string(rune('a'+i%26))+string(rune('0'+i/26))] = &pace{DealingCounts: DealingCounts{Owners: 1,
			Deals: 2}}
	}
	d := f.dealings()
	if len(d.Tables) != MaxListed || d.Rest == nil || d.Rest.Count != 3 ||
		d.Rest.DealingCounts != (DealingCounts{Owners: 3, Deals: 6}) ||
		d.Totals != (DealingCounts{Owners: MaxListed + 3, Deals: 2*MaxListed + 6}) {
		t.Errorf("%d listed, rest %+v, totals %+v", len(d.Tables), d.Rest, d.Totals)
	}
}

// TestGaps: classes, medians, and what lies far from them.
func TestGaps(t *testing.T) {
	for _, test := range []struct {
		name    string
		between []int64
		after   []int64
		ahead   uint64
		long    uint64
		median  *[2]uint64
	}{
		{"nothing", nil, []int64{5000}, 0, 0, nil},
		{"one gap", []int64{9}, []int64{9}, 0, 0, &[2]uint64{8, 16}},
		{"the lower of two", []int64{1, 1000}, nil, 0, 0, &[2]uint64{1, 2}},
		{"within a quarter", []int64{1024, 1024, 1024, 1024, 1024, 255, 256, 511, 512}, nil, 3, 0,
			&[2]uint64{1024, 2048}},
		{"beyond four times", []int64{1024}, []int64{4095, 4096, 4097, 1 << 62}, 0, 3, &[2]uint64{1024, 2048}},
		{"all at once", []int64{0, 0, 0}, []int64{0, 1, 2}, 0, 1, &[2]uint64{0, 1}},
		{"a clock that went back", []int64{-5}, nil, 0, 0, &[2]uint64{0, 1}},
	} {
		p := &pace{DealingCounts: DealingCounts{Owners: 1}} // so that the table is listed
		for _, g := range test.between {
			p.Between.add(0, g)
		}
		for _, g := range test.after {
			p.After.add(0, g)
		}
		c := (&fold{figures: figures{paces: map[string]*pace{"1": p}}}).dealings().Tables[0]
		median := c.Median
		if c.InOneGo != test.ahead || c.LongBefore != test.long || (median == nil) != (test.median == nil) ||
			median != nil && *median != *test.median {
			t.Errorf("%s: %d in one go, %d long before, median %v", test.name, c.InOneGo, c.LongBefore, median)
		}
	}
}

// story is a ledger in which people do what the report lists.
func story(t *testing.T) *house {
	t.Helper()
	g := inspecttest.Plain()
	g.TwoPersons = []audit.Act{audit.ActAdoptHead, audit.ActKillClear, audit.ActAdministrator, audit.ActAdminCredential,
		audit.ActTakeover, audit.ActTwoPersons, audit.ActCoDealer}
	g.Delay = 60
	h := &house{inspecttest.New(t.TempDir(), "story", g), 6_000}
	rescue := audit.Actor{Identity: "rescue", Credential: "rescue-1"}
	h.Hire(rescue, audit.RoleDealer)
	root := &audit.Credential{Kind: audit.CredentialCreated, ID: "root-1", Form: audit.FormToken, Role: audit.RoleAdmin,
		Identity: "root",
		Expires:  h.Now + 86_400_000}
	h.Approve(audit.Daemon.Identity, root)
	h.Append(root)
	h.hand("t1")
	h.hand("t2")
	h.taken("t1", rescue, audit.ExtentClose)
	h.taken("t2", rescue, audit.ExtentPlay)
	h.Append(&audit.Credential{Kind: audit.CredentialRevoked, ID: rescue.Credential, Reason: "left"})
	h.killed(1)
	h.killed(2 * Width)
	h.Append(&audit.Opaque{Code: 200, Data: []byte("later")})
	h.Append(&audit.Event{Kind: 201, Opaque: []byte("later")})
	h.Append(&audit.Opaque{Code: 200})
	adopted := &audit.Event{Kind: audit.EventHeadAdopted, Size: h.Size, Digest: h.Root(), LostSize: h.Size + 7,
		Reason: "restored"}
	h.Approve(audit.Operator.Identity, adopted)
	h.By(audit.Operator, adopted)
	return h
}

// taken is a hand that another identity takes over after its first street.
func (h *house) taken(table string, by audit.Actor, extent audit.Extent) {
	s := h.Commit(table)
	h.wait()
	s.Deal(streets[0], 0)
	h.wait()
	takeover := &audit.Takeover{Shuffle: s.ID, Extent: extent, Reason: "the dealer is gone"}
	if extent == audit.ExtentPlay {
		h.Approve(by.Identity, takeover)
	}
	h.By(by, takeover)
	for range 6 { // long, after a takeover and not after a deal
		h.wait()
	}
	if extent == audit.ExtentPlay {
		h.By(by, &audit.Deal{Shuffle: s.ID, Checkpoint: s.ID + 1, First: streets[0],
			Runs: []audit.Run{{Count: 3, Purpose: audit.PurposeBoard}}})
		h.wait()
	}
	h.By(by, s.Closing(audit.OutcomeVoid, audit.ReasonSystemFault))
}

// killed sets and clears a switch: one administrator cancels, waits, and clears alone after
// the delay, and this many entries in between.
func (h *house) killed(between int) {
	h.Append(&audit.Event{Kind: audit.EventKillSet, Scope: audit.ScopeTable, Name: "t1", Reason: "dispute"})
	clear := &audit.Event{Kind: audit.EventKillClear, Scope: audit.ScopeTable, Name: "t1", Reason: "settled"}
	digest := audit.Approved(audit.Daemon.Identity, clear)
	h.Act(audit.ActKillClear, digest, "alice")
	h.Start() // which the act does not approve
	h.Act(audit.ActCancel, digest, "bob")
	h.Act(audit.ActKillClear, digest, "bob")
	s := h.Commit("t2")
	s.Deal(streets[0], 0)
	for range between {
		h.Start()
	}
	h.Now += 61_000
	h.Append(clear)
	s.Deal(streets[1], 0)
	s.Close(audit.OutcomeEndedEarly, audit.ReasonNone)
	h.wait()
}

// TestConduct: the report of the story is the one that is kept.
func TestConduct(t *testing.T) {
	t.Parallel()
	h := story(t)
	got := asJSON(t, h.report(t)) + "\n"
	name := filepath.Join("testdata", "conduct.json")
	if os.Getenv("SHUFFLED_WRITE_TESTDATA") != "" {
		must(t, os.WriteFile(name, []byte(got), 0o644))
	}
	want, err := os.ReadFile(name)
	must(t, err)
	if got != string(want) {
		t.Fatalf("the report is\n%snot\n%s", got, want)
	}
}

// TestLapsedAct: of two acts with one digest that wait, that which has lapsed approves nothing, and is not cancelled.
func TestLapsedAct(t *testing.T) {
	t.Parallel()
	h := story(t)
	clear := &audit.Event{Kind: audit.EventKillClear, Scope: audit.ScopeTable, Name: "t1", Reason: "settled"}
	digest := audit.Approved(audit.Daemon.Identity, clear)
	h.Append(&audit.Event{Kind: audit.EventKillSet, Scope: audit.ScopeTable, Name: "t1", Reason: "dispute"})
	acts := [2]uint64{}
	for i, end := range []func(){func() { h.Append(clear) }, func() { h.Act(audit.ActCancel, digest, "alice") }} {
		h.Act(audit.ActKillClear, digest, "alice")
		h.Now += 1_800_000
		acts[i] = h.Act(audit.ActKillClear, digest, "bob")
		h.Now += 2_700_000
		end()
	}
	for _, l := range h.report(t).Acts.List {
		if broke := l.Entry == acts[0]; l.Entry >= acts[0]-1 &&
			(l.BreakGlass != broke || (l.Cancelled != nil) != (l.Entry == acts[1])) {
			t.Errorf("%+v", l)
		}
	}
}

// TestLostEntries: what a later entry seems to break for lack of a takeover or a key entry is no fault.
func TestLostEntries(t *testing.T) {
	t.Parallel()
	blind := t.TempDir()
	withBeacons(blind, nil)
	h := story(t)
	h.report(t)
	for dir, opts := range map[string]Options{h.Dir: trusting(),
		blind: {Policy: inspecttest.Policy(true, 2, "w1", "w2", "w3")}} {
		b := &broken{t, dir}
		files, err := filepath.Glob(b.path("tile/entries") + "/0??")
		must(t, err)
		tried := 0
		for n := range files {
			name := fmt.Sprintf("tile/entries/%03d", n)
			data := b.read(name)
			at := 0
			for i, frame := range b.frames(name) {
				at += len(frame)
				if typ := audit.Type(frame[3]); typ != audit.TypeTakeover && typ != audit.TypeKey || tried == 8 {
					continue
				}
				tried++
				after := bytes.Clone(data)
				after[at-1] ^= 1
				b.write(name, after)
				r := inspectDir(t, b.dir, opts)
				if index := uint64(n*Width + i); r.FaultCount != 1 || r.FaultCodes[CodeEntry] != 1 ||
					*r.Faults[0].Entry != index {
					t.Errorf("entry %d damaged: %s", index, asJSON(t, r.Faults))
				}
			}
			b.write(name, data)
		}
		if tried == 0 {
			t.Error("void: no such entry")
		}
	}
}
