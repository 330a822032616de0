package inspect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
)

// PairFormat is the format member of a report on a pair.
const PairFormat = "shuffled/v1/pair"

// PairReport is what an audit of a house's ledger and of its co-dealer's ledger found (docs/SPEC-BLIND.md section 9).
type PairReport struct {
	Format   string  `json:"format"`
	Verdict  string  `json:"verdict"`
	House    *Report `json:"house"`
	CoDealer *Report `json:"co_dealer"`
	Judged   bool    `json:"judged"`              // the ledgers were compared with each other
	NotBlind string  `json:"not_blind,omitempty"` // why no shuffle is blind: notPinned or notShared
	// newest seconds at which a witness of both had cosigned the house's and the co-dealer's ledger
	Seen   [2]string   `json:"seen"`
	Totals PairCounts  `json:"totals"`
	Tables []PairTable `json:"tables"` // by name, at most MaxListed
	// of the house, by the entry of their start: those with deals of the co-dealer that the house did not deal on
	Daemons  []PairDaemon `json:"daemons"`
	Unplayed []PairLine   `json:"unplayed"`
	Findings
	Notes []string `json:"notes"`
}

// Why no shuffle of a pair is blind (docs/SPEC-BLIND.md section 8).
const (
	notPinned = "key_not_pinned"
	notShared = "no_common_witness"
)

// PairCounts are figures about the house's shuffles whose plan names an order of this
// co-dealer, and about the deals of these orders.
type PairCounts struct {
	Shuffles uint64 `json:"shuffles"`
	Blind    uint64 `json:"blind"` // closed, dealt from, and all of it holds in both ledgers
	// BlindUnchecked counts those whose order's tape was not recomputed, and that are blind if the
	// house has the values of the order.
	BlindUnchecked uint64 `json:"blind_unchecked"`
	OrdersChecked  uint64 `json:"orders_checked"` // shuffles whose order's tape was recomputed
	Requests       uint64 `json:"requests"`       // deals of the co-dealer
	Matched        uint64 `json:"matched"`        // of these: dealt on by the house
	Unplayed       uint64 `json:"unplayed"`       // named by the close, with the values
	Unanswered     uint64 `json:"unanswered"`     // named by a close that says that the house got no answer
	Silent         uint64 `json:"silent"`         // not named by the close, long after witnesses had seen it
	Unread         uint64 `json:"unread"`         // not named by the close, though the checkpoint in it covers it
	Withheld       uint64 `json:"withheld"`       // not named by the close, and the house could not know it
	TapeLost       uint64 `json:"tape_lost"`      // not named by the close, which says that the tape was lost
	// of unplayed to tape_lost: a daemon of the house began between commit and close
	Restarted uint64 `json:"restarted"`
	Pending   uint64 `json:"pending"` // the shuffle is open, or the house's bundle ends before it
	Beyond    uint64 `json:"beyond"`  // entries of one ledger that name later entries than the other's bundle has
}

// NotDealt returns how many deals of the co-dealer the house did not deal on before it closed
// the shuffle, without a fault.
func (c PairCounts) NotDealt() uint64 {
	return c.Unplayed + c.Unanswered + c.Silent + c.Unread + c.Withheld + c.TapeLost
}

// PairTable are the figures of one table of the house.
type PairTable struct {
	Table string `json:"table"`
	PairCounts
	// Median bounds the median time, in milliseconds, from the second at which a witness of both had seen the
	// co-dealer's deal to that of the house's deal: it is at least the first and below the second. nil: there is none.
	Median  *[2]uint64 `json:"median_gap_ms,omitempty"`
	Longest int64      `json:"longest_gap_s"`
	gaps    gaps
	held    uint64 // shuffles whose places the pair confirms
	raised  uint64 // of these: those that have the level witnessed by that
}

// PairDaemon is a daemon of the house, by the entry of its start, with the figures of the
// shuffles that it committed to.
type PairDaemon struct {
	Start uint64 `json:"start"`
	PairCounts
}

// PairLine is a deal of the co-dealer that the house did not deal on.
type PairLine struct {
	Kind      string `json:"kind"` // the name of its figure: unplayed to tape_lost
	Table     string `json:"table"`
	Shuffle   uint64 `json:"shuffle"` // of the house
	Close     uint64 `json:"close"`   // entry of the house
	Request   uint64 `json:"request"` // entry of the co-dealer
	Place     int    `json:"place"`
	Places    int    `json:"places"`
	Seen      string `json:"seen,omitempty"`       // when a witness of both had seen the co-dealer's deal
	Closed    string `json:"closed"`               // time of the close
	CloseSeen string `json:"close_seen,omitempty"` // when a witness of both had seen the close
	Daemon    uint64 `json:"daemon"`               // entry of the start of the daemon that committed
	Restarted bool   `json:"restarted"`
}

// PairOptions say what to trust in the two ledgers of a pair, and how to work. Recomputed of the two is not used.
type PairOptions struct {
	House, CoDealer Options
	// Limit is how long after its close-by a shuffle with a request may be open, as of the newest
	// second at which a witness of both saw the house's ledger.
	Limit time.Duration
}

// notWhole are the faults of evidence with which a ledger is not compared with another.
var notWhole = []string{CodeCheckpoint, CodeSize, CodeSignature, CodeRoot, CodeRotation, CodePinned, CodeSince,
	CodeEntry, CodeMissing, CodeMalformed, CodeFile, CodeTile, CodeOrigin}

// whole reports whether all entries are known to be those of the ledger.
func (r *Report) whole() bool {
	return r.Root != "" && len(r.Unknown) == 0 &&
		!slices.ContainsFunc(notWhole, func(code string) bool { return r.FaultCodes[code] > 0 })
}

// Pair checks the ledgers of a house and of its co-dealer, each as Run does, and then compares them with each other.
func Pair(ctx context.Context, house, coDealer Source, o PairOptions) (report *PairReport, err error) {
	w := &pairWork{seed: maphash.MakeSeed()}
	defer func() {
		err = errors.Join(err, w.records.close(), w.claims[0].close(), w.claims[1].close())
	}()
	p := &pair{ctx: ctx, work: w, src: [2]Source{house, coDealer}, limit: o.Limit.Milliseconds()}
	if err := p.open(&o); err != nil {
		return nil, err
	}
	r := &PairReport{Format: PairFormat, Tables: []PairTable{}, Daemons: []PairDaemon{}, Unplayed: []PairLine{},
		Findings: newFindings(), Notes: []string{}}
	o.House.side, o.CoDealer.side = p.sides[0], p.sides[1]
	o.House.Recomputed, o.CoDealer.Recomputed = nil, p.sides[1].values
	o.CoDealer.From, o.CoDealer.To = 0, 0
	if r.House, err = Run(ctx, house, o.House); err != nil {
		return nil, fmt.Errorf("checking the house's ledger: %w", err)
	}
	pinned := func(k trust.KeyRecord) bool { return k.Subject == audit.SubjectCoDealer && k.Origin == p.origins[1] }
	if r.House.whole() && !slices.ContainsFunc(r.House.keys, pinned) {
		return nil, fmt.Errorf("the ledger %s never named %s as its co-dealer: the two bundles are no pair; the house's comes first, and its co-dealer's second",
			p.origins[0], p.origins[1])
	}
	if r.CoDealer, err = Run(ctx, coDealer, o.CoDealer); err != nil {
		return nil, fmt.Errorf("checking the co-dealer's ledger: %w", err)
	}
	if r.House.whole() && r.CoDealer.whole() {
		if err := p.judge(r, o.House.From, o.House.To); err != nil {
			return nil, err
		}
	} else {
		r.Notes = append(r.Notes, "the ledgers were not held against each other: evidence of one is damaged, missing, not known to this version, or not under the trusted key")
	}
	r.conclude()
	return r, nil
}

// pair is an audit of two ledgers. The first element of an array is of the house, the second of the co-dealer.
type pair struct {
	ctx      context.Context
	work     *pairWork
	src      [2]Source
	origins  [2]string
	trust    [2]trust.Trusted
	sides    [2]*side
	limit    int64 // milliseconds
	from, to int64
}

// open reads what the two checks need to know of each other.
func (p *pair) open(o *PairOptions) (err error) {
	for i, opts := range []Options{o.House, o.CoDealer} {
		if p.trust[i], err = trust.ParseTrust(opts.VKey, opts.Policy); err != nil {
			return err
		}
		p.sides[i] = &side{which: i, work: p.work, orders: make(map[uint64]uint64), illegal: make(map[uint64]int),
			claimed: make(map[audit.Head]bool)}
		last, err := p.src[i].Newest(p.ctx)
		if _, ok := errors.AsType[*Damage](err); err != nil && !ok {
			return err
		}
		if head, err := audit.CheckpointText(last.Signed); err == nil { // otherwise Run names it
			p.origins[i], p.work.sizes[i] = head.Origin, head.Size
		}
	}
	if p.origins[0] == p.origins[1] && p.origins[0] != "" {
		return fmt.Errorf("both bundles are of the ledger %s: the second one is to be of its co-dealer's ledger", p.origins[0])
	}
	p.sides[0].other, p.sides[1].other = p.origins[1], p.origins[0]
	p.work.common, err = commonWitnesses(p.trust[0].Policy, p.trust[1].Policy)
	return err
}

// commonWitnesses returns a policy that asks for any one of the witnesses that both policies
// have, nil if they have none in common.
func commonWitnesses(a, b *trust.Policy) (*trust.Policy, error) {
	if a == nil || b == nil {
		return nil, nil
	}
	var lines, names []string
	for _, w := range a.Witnesses {
		if slices.ContainsFunc(b.Witnesses, func(x trust.Witness) bool { return x.VKey == w.VKey }) {
			names = append(names, w.Name)
			lines = append(lines, fmt.Sprintf("witness %s %s\n", w.Name, w.VKey))
		}
	}
	if names == nil {
		return nil, nil
	}
	quorum := names[0]
	if len(names) > 1 {
		quorum = "of-both-ledgers"
		lines = append(lines, fmt.Sprintf("group %s any %s\n", quorum, strings.Join(names, " ")))
	}
	return trust.ParsePolicy([]byte(strings.Join(lines, "") + "quorum " + quorum + "\n"))
}

// judge compares two whole ledgers with each other.
func (p *pair) judge(r *PairReport, from, to int64) error {
	r.Judged, p.from, p.to = true, from, to
	for i, s := range p.sides {
		r.Seen[i] = formatSecond(s.newest)
	}
	faults := newFindings()
	p.apart(r, &faults)
	switch {
	case !r.House.Pinned || !r.CoDealer.Pinned:
		r.NotBlind = notPinned
	case p.sides[0].newest == 0 || p.sides[1].newest == 0 || p.trust[1].Policy.Overlap() == 0:
		r.NotBlind = notShared
	}
	for i, code := range []string{CodeHouseForked, CodeCoDealerForked} {
		first, count, err := heads(p.ctx, p.src[i], p.work.sizes[i], &p.work.claims[i])
		if err != nil {
			return err
		}
		if count > 0 {
			faults.add(fault(code, p.origins[1-i],
				"it holds another root for %d entries of %s than that ledger has, one of %d such checkpoints", first.size,
				p.origins[i], count).at(first.entry))
		}
	}
	all, stages, err := p.hands()
	if err != nil {
		return err
	}
	r.Findings = merge(append(stages, &faults)...)
	p.sum(r, all)
	return nil
}

// apart names a key that both parties have.
func (p *pair) apart(r *PairReport, faults *Findings) {
	keys := [2][][]byte{}
	for i, report := range []*Report{r.House, r.CoDealer} {
		for _, k := range report.keys {
			if k.Subject == audit.SubjectSigning {
				keys[i] = append(keys[i], k.Public)
			}
		}
		if policy := p.trust[i].Policy; policy != nil {
			keys[i] = append(keys[i], policy.LogKeys...)
		}
	}
	if slices.ContainsFunc(keys[0], trust.Among(keys[1])) {
		faults.add(fault(CodeNotApart, p.origins[0], "a signing key of this ledger is one of %s", p.origins[1]))
	}
	for i := range keys {
		if err := p.trust[i].Policy.CheckWitnesses(p.origins[1-i], trust.Among(keys[1-i])); err != nil {
			faults.add(fault(CodeNotApart, p.origins[i], "of its policy, where the ledger is %s: %v", p.origins[1-i], err))
		}
	}
}

// hands judges all orders. Several parts of the work files are read at a time. It returns the faults of each part.
func (p *pair) hands() (all *tally, faults []*Findings, err error) {
	all = &tally{pair: p, tables: map[string]*PairTable{}, daemons: map[uint64]*PairCounts{}}
	faults = make([]*Findings, workParts)
	var mu sync.Mutex // of all
	group, ctx := errgroup.WithContext(p.ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range faults {
		group.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			hands, err := p.work.hands(i)
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			faults[i] = new(newFindings())
			all.faults = faults[i]
			for _, order := range slices.Sorted(maps.Keys(hands)) {
				all.judge(hands[order])
			}
			return nil
		})
	}
	return all, faults, group.Wait()
}

// sum reports the tally of all parts, and raises the shuffles that the house's ledger alone could not show.
func (p *pair) sum(r *PairReport, all *tally) {
	if r.NotBlind != "" || r.FaultCodes[CodeNotApart]+r.FaultCodes[CodeHouseForked]+r.FaultCodes[CodeCoDealerForked] > 0 {
		all.unblind()
	}
	r.Totals, r.Unplayed = all.counts, append(r.Unplayed, firstLines(all.lines)...)
	for _, name := range slices.Sorted(maps.Keys(all.tables)) {
		t := all.tables[name]
		if m, ok := t.gaps.median(); ok {
			t.Median = bounds(m)
		}
		if len(r.Tables) < MaxListed {
			r.Tables = append(r.Tables, *t)
		}
		r.House.raise(name, t)
	}
	for _, start := range slices.Sorted(maps.Keys(all.daemons)) {
		if c := all.daemons[start]; c.NotDealt() > 0 && len(r.Daemons) < MaxListed {
			r.Daemons = append(r.Daemons, PairDaemon{start, *c})
		}
	}
}

// unblind sets the figures of blind shuffles to zero. If the two parties are one, or a ledger
// has two histories, no shuffle is shown to be blind.
func (t *tally) unblind() {
	all := slices.AppendSeq([]*PairCounts{&t.counts}, maps.Values(t.daemons))
	for _, table := range t.tables {
		all, table.held, table.raised = append(all, &table.PairCounts), 0, 0
	}
	for _, c := range all {
		c.Blind, c.BlindUnchecked = 0, 0
	}
}

// firstLines sorts and keeps what a report lists.
func firstLines(all []PairLine) []PairLine {
	slices.SortFunc(all, func(a, b PairLine) int { return cmp.Compare(a.Request, b.Request) })
	return all[:min(len(all), MaxListed)]
}

// raise subtracts the shuffles of a table that the pair confirms from those that need a co-dealer.
func (r *Report) raise(table string, t *PairTable) {
	i, found := slices.BinarySearchFunc(r.Tables, table, func(c TableCounts, name string) int {
		return cmp.Compare(c.Table, name)
	})
	if !found {
		return
	}
	// A close with a fault in the house's ledger may not be counted there.
	held := min(t.held, r.Tables[i].NeedsCoDealer)
	raised := min(t.raised, r.Tables[i].Levels[LevelRecorded])
	for _, c := range []*Counts{&r.Tables[i].Counts, &r.Totals} {
		c.NeedsCoDealer -= held
		c.raise(raised, LevelRecorded, LevelWitnessed)
	}
}

// conclude gives the verdict.
func (r *PairReport) conclude() {
	one := func(verdict string) bool { return r.House.Verdict == verdict || r.CoDealer.Verdict == verdict }
	switch {
	case r.FaultCount > 0 || one(Failed):
		r.Verdict = Failed
	case one(CannotJudge):
		r.Verdict = CannotJudge
	case one(Consistent), r.NotBlind != "":
		r.Verdict = Consistent
	default:
		r.Verdict = Proved
	}
}
