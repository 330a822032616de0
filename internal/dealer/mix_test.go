package dealer_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/beacon/beacontest"
	"shuffled/internal/dealer/api"
	"shuffled/internal/shuffle"
	"shuffled/internal/verify"
)

const allModes = 7 // slots, beacon and cut

// onEachStore runs a test on a table of each store with these settings.
func onEachStore(t *testing.T, set setting, test func(t *testing.T, tb *table)) {
	t.Helper()
	t.Parallel()
	for _, inPostgres := range []bool{false, true} {
		t.Run(map[bool]string{false: "sqlite", true: "postgres"}[inPostgres], func(t *testing.T) {
			t.Parallel()
			set := set
			set.postgres = inPostgres
			test(t, newTableWith(t, set))
		})
	}
}

// roundTime is when a round comes out.
func roundTime(round uint64) time.Time {
	at, _ := audit.BeaconTime(audit.Quicknet, round)
	return time.Unix(at, 0)
}

// slots returns n players' values and their hashes at table t.
func slots(name string, n int) (values, hashes [][32]byte) {
	for i := range n {
		v := [32]byte([]byte(fmt.Sprintf("%-30.30s%2d", name, i)))
		values, hashes = append(values, v), append(hashes, audit.SlotHash(origin, "t", v))
	}
	return values, hashes
}

func num(n int) *int { return &n }

// restart ends the daemon and starts it again.
func (tb *table) restart() {
	tb.t.Helper()
	must(tb.t, tb.Ledger().Close())
	tb.serve(tb.cfg.Store, tb.open.Mark)
}

// unwritten fails when f writes an entry.
func (tb *table) unwritten(f func()) {
	tb.t.Helper()
	size := tb.Ledger().Live().Size
	f()
	if got := tb.Ledger().Live().Size; got != size {
		tb.t.Errorf("%d entries were written", got-size)
	}
}

// judged is the verdict on the transcript that a dealer gets.
func (tb *table) judged(id uint64, trust verify.Trust) *verify.Verdict {
	tb.t.Helper()
	b, err := tb.Transcript(tb.t.Context(), id, api.View{Identity: "tester"})
	must(tb.t, err)
	trust.VKey = tb.vkey
	return verify.Transcript(b, trust)
}

// stepOf is the result of one step of a verdict.
func stepOf(v *verify.Verdict, name string) string {
	i := slices.IndexFunc(v.Steps, func(s verify.Step) bool { return s.Name == name })
	return v.Steps[i].Result
}

// TestMix plays a hand whose order players, a beacon and a cut change, and tries every wrong value on the way.
func TestMix(t *testing.T) {
	round := beacontest.Newest()
	onEachStore(t, setting{modes: allModes, at: roundTime(round.Round).Add(-time.Minute)},
		func(t *testing.T, tb *table) {
			values, hashes := slots("mix", 2)
			s := tb.commit("k", api.ShuffleRequest{Table: "t", Deck: "standard-52",
				Plan: &api.MixPlan{Slots: hashes, Beacon: &api.BeaconPlan{Round: new(round.Round)}, Cut: true}})
			if plan := tb.commitOf(s.ID).Context.Plan; len(plan) != 4 || plan[2].Round != round.Round {
				t.Errorf("the plan is %+v", plan)
			}
			right := api.MixRequest{Slots: values, Beacon: &round.Signature, Cut: num(17)}
			tb.wrongMixes(s.ID, right)
			mixed, err := tb.Mix(t.Context(), as("tester"), s.ID, right)
			if err != nil || mixed.Repeated {
				t.Fatalf("%+v, %v", mixed, err)
			}
			tb.restart()
			tb.repeatedMixes(s.ID, right, mixed)
			d := tb.deal(s.ID, api.DealRequest{Runs: []audit.Run{seat(30, "a"), board(22)},
				Close: &api.CloseRequest{Outcome: audit.OutcomeCompleted}})
			tb.repeatedMixes(s.ID, right, mixed) // also of a closed shuffle
			v := tb.judged(s.ID, verify.Trust{Slots: values[:1]})
			if v.Verdict != verify.Proved || stepOf(v, "beacon") != verify.StepOK {
				t.Errorf("the verdict is %+v", v)
			}
			if v := tb.judged(s.ID, verify.Trust{Slots: [][32]byte{{9}}}); v.Verdict != verify.Failed {
				t.Errorf("with the slot of nobody the verdict is %s", v.Verdict)
			}
			tb.checkMixed(s.ID, d, values, round.Signature, 17)
		})
}

// wrongMixes sends values that are not the plan's; nothing is written.
func (tb *table) wrongMixes(id uint64, right api.MixRequest) {
	t := tb.t
	t.Helper()
	other := beacontest.Rounds()[0].Signature
	with := func(change func(r *api.MixRequest)) api.MixRequest {
		r := right
		r.Slots = slices.Clone(right.Slots)
		change(&r)
		return r
	}
	tb.unwritten(func() {
		for name, c := range map[string]struct {
			field, rule string
			req         api.MixRequest
		}{
			"another value":   {"", audit.RuleMix, with(func(r *api.MixRequest) { r.Slots[1][31] ^= 1 })},
			"swapped values":  {"", audit.RuleMix, with(func(r *api.MixRequest) { slices.Reverse(r.Slots) })},
			"one value twice": {"", audit.RuleMix, with(func(r *api.MixRequest) { r.Slots[1] = r.Slots[0] })},
			"a slot too few":  {"slots", "", with(func(r *api.MixRequest) { r.Slots = r.Slots[:1] })},
			"a slot too many": {"slots", "",
				with(func(r *api.MixRequest) { r.Slots = append(r.Slots, [32]byte{}) })},
			"no slots":           {"slots", "", with(func(r *api.MixRequest) { r.Slots = nil })},
			"another round":      {"", audit.RuleBeacon, with(func(r *api.MixRequest) { r.Beacon = &other })},
			"no signature":       {"", audit.RuleBeacon, with(func(r *api.MixRequest) { r.Beacon = new([48]byte) })},
			"nothing to fetch":   {"beacon", "", with(func(r *api.MixRequest) { r.Beacon = nil })},
			"no cut":             {"cut", "", with(func(r *api.MixRequest) { r.Cut = nil })},
			"a cut of all cards": {"", audit.RuleMix, with(func(r *api.MixRequest) { r.Cut = num(52) })},
			"a cut below 0":      {"cut", "", with(func(r *api.MixRequest) { r.Cut = num(-1) })},
			"a cut above 16 bit": {"cut", "", with(func(r *api.MixRequest) { r.Cut = num(17 + 1<<16) })},
		} {
			_, err := tb.Mix(t.Context(), as("tester"), id, c.req)
			wantRefusal(t, name, err, c.field, c.rule)
		}
		_, err := tb.Deal(t.Context(), as("tester"), id, api.DealRequest{Runs: []audit.Run{seat(1, "a")}})
		wantRefusal(t, "a deal before the mix", err, "", audit.RuleMix)
		_, err = tb.Shuffle(t.Context(), as("tester"), "child",
			api.ShuffleRequest{Table: "t", Parent: &api.Parent{ID: id}})
		wantRefusal(t, "what was not dealt, before the mix says what that is", err, "", audit.RuleMix)
		if v := tb.judged(id, verify.Trust{}); v.Verdict != verify.Proved {
			t.Errorf("before the mix the verdict is %+v", v)
		}
	})
}

// repeatedMixes: the same values get the same answer, with or without the round's signature; others are refused.
func (tb *table) repeatedMixes(id uint64, right api.MixRequest, first api.Mix) {
	t := tb.t
	t.Helper()
	without := right
	without.Beacon = nil
	other := beacontest.Rounds()[0].Signature
	tb.unwritten(func() {
		again, err := tb.Mix(t.Context(), as("tester"), id, without)
		if diff := cmp.Diff(first, again, sameAnswer); diff != "" || err != nil {
			t.Error("repeated without the signature:", err, diff)
		}
		for name, change := range map[string]func(r *api.MixRequest){
			"another cut":        func(r *api.MixRequest) { r.Cut = num(18) },
			"a cut above 16 bit": func(r *api.MixRequest) { r.Cut = num(17 + 1<<16) },
			"no cut":             func(r *api.MixRequest) { r.Cut = nil },
			"swapped values":     func(r *api.MixRequest) { r.Slots = [][32]byte{r.Slots[1], r.Slots[0]} },
			"fewer values":       func(r *api.MixRequest) { r.Slots = r.Slots[:1] },
			"another signature":  func(r *api.MixRequest) { r.Beacon = &other },
		} {
			req := right
			change(&req)
			_, err := tb.Mix(t.Context(), as("tester"), id, req)
			var request *api.RequestError
			if !errors.Is(err, api.ErrRepeated) && !errors.As(err, &request) {
				t.Errorf("%s is answered after the mix: %v", name, err)
			}
		}
	})
}

// checkMixed computes the order from the ledger's bytes and holds the deal against it.
func (tb *table) checkMixed(id uint64, d api.Deal, values [][32]byte, signature [48]byte, cut int) {
	tb.t.Helper()
	tr := tb.transcript(id, api.View{})
	r, err := audit.ParseReceipt(tr.Receipts[1])
	must(tb.t, err)
	var all []audit.MixValue
	for _, v := range values {
		all = append(all, audit.MixValue{Source: audit.SourceSlot, Slot: v})
	}
	all = append(all, audit.MixValue{Source: audit.SourceBeacon, Beacon: signature})
	p, err := shuffle.Mix(openings.MixSeed(tlog.RecordHash(r.Entry), all), 52)
	must(tb.t, err)
	out, err := (shuffle.Recipe{Cards: 52, Take: 52}).Run(d.Close.Tape)
	must(tb.t, err)
	moved := false
	for i, c := range d.Cards {
		position := int(p[(i+cut)%52])
		if c.Place != i || c.Position != position || c.Value != out.Values[position] {
			tb.t.Errorf("place %d shows position %d, value %d, not %d, %d", i, c.Position, c.Value, position,
				out.Values[position])
		}
		moved = moved || position != i
	}
	if !moved {
		tb.t.Error("void: the mix moved no card")
	}
}

// TestMixPlans: plans that break a rule are refused, with nothing written.
func TestMixPlans(t *testing.T) {
	t.Parallel()
	rounds := beacontest.Rounds()
	last, before := rounds[len(rounds)-1], rounds[len(rounds)-2]
	if last.Round != before.Round+1 {
		t.Fatal("void: the last rounds do not follow each other")
	}
	tb := newTableWith(t, setting{modes: allModes, at: roundTime(before.Round).Add(time.Millisecond)})
	_, hashes := slots("plans", 33)
	for name, c := range map[string]struct {
		field, rule string
		plan        api.MixPlan
	}{
		"nothing":            {"mix", "", api.MixPlan{}},
		"equal slots":        {"mix.slots[2]", "", api.MixPlan{Slots: [][32]byte{hashes[0], hashes[1], hashes[0]}}},
		"33 sources":         {"mix", "", api.MixPlan{Slots: hashes}},
		"32 slots and a cut": {"mix", "", api.MixPlan{Slots: hashes[:32], Cut: true}},
		"a round that is out": {"", audit.RuleBeacon,
			api.MixPlan{Beacon: &api.BeaconPlan{Round: new(before.Round)}}},
		"an old round": {"", audit.RuleBeacon, api.MixPlan{Beacon: &api.BeaconPlan{Round: new(uint64(1))}}},
		"no such round": {"mix.beacon.round", "",
			api.MixPlan{Beacon: &api.BeaconPlan{Round: new(uint64(audit.MaxInteger + 1))}}},
	} {
		tb.unwritten(func() {
			_, err := tb.Shuffle(t.Context(), as("tester"), "k",
				api.ShuffleRequest{Table: "t", Deck: "standard-52", Plan: &c.plan})
			wantRefusal(t, name, err, c.field, c.rule)
		})
	}
	with := func(key string, plan api.MixPlan) api.ShuffleRequest {
		return api.ShuffleRequest{Table: "t", Deck: "standard-52", Plan: &plan}
	}
	// A refused request used no key, and the next round is not out.
	tb.commit("k", with("k", api.MixPlan{Beacon: &api.BeaconPlan{Round: new(last.Round)}}))
	chosen := with("chosen", api.MixPlan{Beacon: new(api.BeaconPlan)})
	s := tb.commit("chosen", chosen)
	plan := tb.commitOf(s.ID).Context.Plan
	if at := roundTime(plan[0].Round); !at.After(tb.now()) || at.After(tb.now().Add(time.Minute)) {
		t.Errorf("the dealer chose round %d, of %s", plan[0].Round, at)
	}
	tb.pass(time.Hour)
	if diff := cmp.Diff(s, tb.commit("chosen", chosen), sameAnswer); diff != "" {
		t.Error("an hour later the same request gets another round:", diff)
	}
	few := newTableWith(t, setting{modes: 1 << (audit.SourceSlot - 1)})
	few.unwritten(func() {
		for _, plan := range []api.MixPlan{{Cut: true}, {Beacon: new(api.BeaconPlan)},
			{Slots: hashes[:1], Cut: true}} {
			_, err := few.Shuffle(t.Context(), as("tester"), "k", with("k", plan))
			wantRefusal(t, "a source that the ledger does not declare", err, "", audit.RuleMixModes)
		}
	})
	few.commit("k", with("k", api.MixPlan{Slots: hashes[:1]}))
}
