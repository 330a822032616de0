package inspect

import (
	"crypto/ed25519"
	"os"
	"path/filepath"
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
	_, _, at := a.manifest.Times()
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
	if one := r.Tables[0]; one.PairCounts != want || one.Longest != 1 || one.Median == nil {
		t.Errorf("%s", asJSON(t, one))
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
		for _, line := range r.Unplayed {
			if line.Seen == "" || line.CloseSeen == "" {
				t.Errorf("from %d: %+v", begin, line)
			}
		}
		if want > 0 && int(r.Daemons[0].Unplayed) != want {
			t.Errorf("from %d: %+v", begin, r.Daemons)
		}
	}
	for end, want := range map[int64]int{from + 1: 2, from: 1, 1: 0} {
		r, err := inspectPair(t, p.House.Dir, p.Lab.Dir, func(o *PairOptions) { o.House.To = end })
		must(t, err)
		if int(r.Totals.Unplayed) != want || len(r.Unplayed) != want {
			t.Errorf("to %d: %d, listed %d, want %d", end, r.Totals.Unplayed, len(r.Unplayed), want)
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

// TestPairUnseen: a close that no witness of both saw has no time, and its hand is not blind.
func TestPairUnseen(t *testing.T) {
	p := inspecttest.NewPair(t.TempDir(), t.TempDir())
	p.Play("t1")
	p.Wait(1)
	p.See()
	h := asked(p, nil)
	p.See()
	h.Play(nil)
	h.End(audit.OutcomeCompleted, audit.ReasonNone, nil)
	h.Follow(nil)
	p.Wait(1)
	p.Lab.Cosigned("w1", "w2")
	p.Finish()
	r, err := inspectPair(t, p.House.Dir, p.Lab.Dir)
	must(t, err)
	if want := (PairCounts{Shuffles: 2, Blind: 1, OrdersChecked: 2, Requests: 5, Matched: 5}); r.Totals != want {
		t.Errorf("%+v, want %+v: %s", r.Totals, want, asJSON(t, r.Faults))
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
	} else if f := r.Faults[0]; f.Shuffle == nil || *f.Shuffle == *f.Entry {
		t.Errorf("the fault names no shuffle: %s", asJSON(t, f))
	}
}

// TestPairTrust: without a witness of both, or without trust, nothing is blind; parties that share a key are not two.
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
