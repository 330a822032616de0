package inspect

import (
	"context"
	"errors"
	"maps"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/rules"
	"shuffled/internal/bundle"
)

// compareTile compares a tile above the leaves with that of the source.
func (f *fold) compareTile(level int, index uint64, want []byte) error {
	data, where, err := f.src.Tile(f.ctx, level, index, len(want)/tlog.HashSize)
	switch d, ok := errors.AsType[*Damage](err); {
	case ok:
		f.faults.add(d.Fault)
	case err != nil:
		return err
	case data != nil && !slices.Equal(data, want):
		f.faults.add(fault(CodeTile, where, "%d hashes are not those of the tiles below",
			len(differ(hashes(data), hashes(want)))))
	}
	return nil
}

// finish checks what can be checked only at the end, and reports.
func (f *fold) finish(ctx context.Context) (*Report, error) {
	f.converge()
	f.judgeTrust()
	f.retiredKeys()
	f.unnamed()
	if !f.broken {
		if err := f.edge.Partial(f.compareTile); err != nil {
			return nil, err
		}
	}
	if err := f.unique(ctx); err != nil {
		return nil, err
	}
	s := Summary{Keys: &f.history, From: f.opts.From, To: f.opts.To, Newest: f.times[1]}
	if n := len(f.sightings); n > 0 {
		s.Newest = max(s.Newest, f.sightings[n-1].At*1000)
	}
	faults, notes, err := f.src.Finish(ctx, s)
	if err != nil {
		return nil, err
	}
	f.faults.add(faults...)
	f.report.Notes = append(f.report.Notes, notes...)
	if len(f.lost) > 0 {
		f.noteOnce("entries are lost: what is open here may be closed")
	}
	if err = f.complete(f.report); err == nil && f.report.whole() {
		err = f.actHeads(f.report)
	}
	return f.report, err
}

// actHeads names an act or an adopted head that has another root than the entries have: it is of another history.
func (f *fold) actHeads(r *Report) error {
	first, count, err := heads(f.ctx, f.src, f.size, &f.heads)
	if count > 0 {
		r.Add(fault(CodeActHead, "", "the entry names another root for %d entries than they have, one of %d such heads",
			first.size, count).at(first.entry))
	}
	return err
}

// judgeTrust checks that the trusted keys were in force, and that the trusted quorum
// cosigned the newest cosigned checkpoint.
func (f *fold) judgeTrust() {
	named := f.unsigned || f.unsure || len(f.lost) > 0 ||
		f.faults.FaultCodes[CodeRotation] > 0 // why the key was not seen
	if len(f.due) > 0 && !named {
		key := f.due[0]
		f.faults.add(fault(CodePinned, "",
			"the trusted %s key %s+%08x is not in force at the newest checkpoint, nor was it at one that hands on to another key: compare it with the key that the house publishes, and if it is that one, ask for an export that has its entry",
			map[bool]string{false: "Ed25519", true: "ML-DSA-44"}[audit.IsMLDSA(key)], key.Name(), key.KeyHash()))
	}
	if !f.trust.Policy.Asks() {
		return
	}
	switch {
	case f.report.Witnesses.Newest == 0 && !f.cosigned.broken:
		f.faults.add(fault(CodeQuorum, "",
			"the trusted policy asks for witnesses, and there is no cosigned checkpoint"))
	case f.cosigned.undecided > 0 && f.cosigned.undecided == f.report.Witnesses.Newest && !f.cosigned.named:
		f.cannotJudge(undecided(f.report.Witnesses.Newest))
	case f.cosigned.pinned < f.report.Witnesses.Newest && !f.cosigned.named:
		f.faults.add(fault(CodeQuorum, "",
			"the newest cosigned checkpoint, of size %d, is not cosigned by the quorum of the trusted policy",
			f.report.Witnesses.Newest))
	}
}

// complete puts what is known at the end into the report.
func (f *fold) complete(r *Report) error {
	if f.noLevel == "" {
		r.Witnesses.Overlap = f.trust.Policy.Overlap()
	}
	if g := f.state.Genesis(); g != nil {
		r.Production, r.Revision = g.Production, g.Revision
		r.VKey, _ = audit.VKey(g.Origin, f.state.SigningKey())
	}
	if p := f.policies.Current(); p != nil {
		r.Policy = p.Text
	}
	r.Period.From, r.Period.To = bundle.OptionalTime(f.opts.From), bundle.OptionalTime(f.opts.To)
	r.Period.FirstEntry, r.Period.LastEntry = bundle.OptionalTime(f.times[0]), bundle.OptionalTime(f.times[1])
	r.Period.At = bundle.OptionalTime(f.opts.At)
	r.Keys, r.keys = f.keyLines(), f.history.Records
	r.Dealing, r.Credentials = f.dealings(), f.credentials()
	if err := f.listOpen(r); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(f.tables)) {
		t := f.tables[name]
		t.share()
		sum(&r.Totals, t)
		r.Tables = append(r.Tables, TableCounts{name, *t})
	}
	r.Totals.share()
	r.Findings = merge(&f.faults, &f.judged)
	r.conclude()
	return nil
}

// listOpen counts and lists the open shuffles.
func (f *fold) listOpen(r *Report) error {
	for _, id := range slices.Sorted(maps.Keys(f.live)) {
		l := f.live[id]
		o, ok := f.state.Shuffle(id)
		if !ok || !f.counts(l) {
			continue
		}
		overdue := f.opts.At >= o.CloseBy
		level := f.level(l, id)
		if level == LevelWitnessed && l.mixedForAll(o) && l.Beacon() {
			level = LevelMixed
		}
		line := l.line(o, map[bool]string{false: "open", true: "overdue"}[overdue], level)
		if err := f.out.write(line); err != nil {
			return err
		}
		t := f.table(l.Table)
		t.Open++
		t.Levels[level]++
		if l.Tickets && level == LevelMixed {
			f.report.Tickets.Mixed++
		}
		if overdue {
			t.Overdue++
		}
		if o.Aside {
			t.setAside(l)
		}
		if len(r.Open) < MaxListed {
			r.Open = append(r.Open, OpenShuffle{ID: id, Table: l.Table, Serial: l.Serial, Committed: line.Committed,
				CloseBy: line.CloseBy, Dealt: o.Next, Places: o.Places, Overdue: overdue})
		}
	}
	return nil
}

// line is what the file of shuffles says of each shuffle.
func (l *live) line(o rules.Opened, state, level string) *ShuffleLine {
	return &ShuffleLine{ID: o.ID, Table: l.Table, Serial: l.Serial, Owner: l.By, GameRef: l.GameRef, Shuffled: l.What,
		Committed: bundle.FormatTime(l.Committed), CloseBy: bundle.FormatTime(l.CloseBy), State: state,
		Places: o.Places, Dealt: o.Next, Level: level}
}

func (c *Counts) share() {
	closed := c.Closed()
	c.Shares = Shares{Void: share(c.Void, closed), Expired: share(c.Expired, closed),
		EndedEarly: share(c.EndedEarly, closed)}
}

// Add adds faults to a finished report.
func (r *Report) Add(faults ...Fault) {
	r.add(faults...)
	r.conclude()
}

// conclude gives the verdict.
func (r *Report) conclude() {
	switch {
	case r.FaultCount > 0:
		r.Verdict = Failed
	case len(r.Unknown) > 0:
		r.Verdict = CannotJudge
	case r.Pinned:
		r.Verdict = Proved
	default:
		r.Verdict = Consistent
	}
}

// newReport returns a report on a ledger that says nothing of its entries: its lists are empty and not null.
func newReport(origin string, size uint64, pinned bool) *Report {
	return &Report{Format: ReportFormat, Origin: origin, Size: size, Pinned: pinned,
		Entries: map[string]uint64{}, Totals: *newCounts(), Tables: []TableCounts{},
		Dealing: Dealing{Tables: []TableDealing{}}, Acts: Acts{List: []ActLine{}}, AdoptedHeads: []AdoptedHead{},
		Passed: []audit.Passed{}, Open: []OpenShuffle{}, Events: []EventLine{}, Unknown: []string{}, Notes: []string{},
		Keys: []KeyLine{}, Tickets: Tickets{Lists: []SeenList{}}, Findings: newFindings(),
		Credentials: Credentials{Created: map[string]uint64{}, Revoked: map[string]uint64{},
			Admins: []AdminCredential{}}}
}

// Refused returns the report on a ledger that was not read. faults say why.
func Refused(faults ...Fault) *Report {
	r := newReport("", 0, false)
	r.Add(faults...)
	return r
}
