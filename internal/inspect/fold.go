package inspect

import (
	"encoding/base64"
	"errors"
	"slices"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/rules"
	"shuffled/internal/audit/trust"
	"shuffled/internal/disclosure"
)

// fold is what one pass over the entries, in order, knows and counts. It belongs to the goroutine that called Run.
type fold struct {
	*run
	state    *rules.State
	edge     *edge
	broken   bool // hashes of entries are not known, and so no root from there on
	lost     lostEntries
	diverged *divergence
	batch    *batch   // of the chunk that is being folded
	behind   []*batch // sent to the workers and not collected
	play
	figures
	signing
	witnessing

	faults Findings
	judged Findings // of recomputing, apart: which faults are kept must not depend on timing
	report *Report  // what of it is known before the end
	out    *lines   // nil: no file of shuffles was asked for
}

// play is what the fold knows of shuffles.
type play struct {
	live   map[uint64]*live // open ones by id
	held   *closing         // the last shuffle of a chain, until its ancestors are disclosed
	checks *lru.Cache[beaconValue, roundCheck]
	noDeck map[[32]byte]bool // decks and documents of terms that were named as faults
	seen   seen
}

// figures are what the fold counts for the report.
type figures struct {
	tables    map[string]*Counts // by table, of the period
	times     [2]int64           // of the first and the last entry
	paces     map[string]*pace   // by table
	approving uint64             // index of the act that approves the next entry, 0 for none
	drawnFrom map[int]bool       // by number in Options.Tickets: a commit names the root of the list
}

// signing is what the fold knows of keys and policies.
type signing struct {
	history  trust.History                 // of keys, as entries say them
	openers  map[uint64]*disclosure.Opener // by index of the disclosure key's entry
	policies *trust.Policies
	rotated  *rotation       // a signing key's entry without its checkpoint so far
	unsure   bool            // not all such checkpoints could be read
	due      []note.Verifier // trusted keys of the algorithms of which no trusted key signed so far
	heads    workFiles       // that acts name
	unsigned bool            // the newest checkpoint is not signed by the key in force
}

// witnessing is what the fold knows of cosigned checkpoints.
type witnessing struct {
	cosigned  cosignedSizes
	sightings []sighting
	needed    int    // how many sightings were kept the last time that some were dropped
	noLevel   string // why the trusted policy gives no level; "": it does
	copied    []byte // the cosigned checkpoint of the newest's size
}

// chunk folds one chunk in.
func (f *fold) chunk(c *chunk) error {
	if c.err != nil {
		return c.err
	}
	f.faults.add(c.faults...)
	f.broken = f.broken || c.broken
	f.cosigned.broken = f.cosigned.broken || c.endOfCosigned
	f.cosigned.spoilt += c.spoilt
	f.unsure = f.unsure || c.endOfSigned
	f.edge.now = &c.tree
	if !f.broken && c.other != nil {
		f.choose(c)
	}
	f.batch = &batch{done: make(chan struct{})}
	points := c.points
	for i := range c.entries {
		f.entry(c, i)
		points = f.judge(points)
	}
	for i := range c.beyond {
		f.beyond(&c.beyond[i])
	}
	if f.state.Size() == f.size {
		f.release()
		if root, ok := f.edge.root(f.size); ok {
			f.report.Root = base64.StdEncoding.EncodeToString(root[:])
		}
	}
	if c.width == Width && !f.broken {
		top := c.top
		if top == nil {
			top = new(c.tree.top())
		}
		if err := f.edge.addTop(*top, f.compareTile); err != nil {
			return err
		}
	}
	f.edge.now = nil
	return nil
}

// choose decides between the entries and the tile by a root that covers both: that of a
// signed checkpoint in the chunk, or in the last chunk that of the newest checkpoint.
func (f *fold) choose(c *chunk) {
	size, want := f.size, f.newest.Root
	if c.first+uint64(c.width) < f.size {
		size, want = f.judgeOf(c) // of size 0 no root is known: no choice holds
	}
	c.faults = nil
	c.reconcile(newTreeHasher(), func(t *subtree) bool {
		f.edge.now = t
		root, ok := f.edge.root(size)
		return ok && root == want
	})
	f.edge.now = &c.tree
	f.faults.add(c.faults...)
}

// judgeOf returns size and root of a checkpoint of the chunk that covers all entries in
// doubt, size 0 for none. A key that may have been in force signed it: one in force at the
// beginning of the chunk, a trusted one, or one that an entry not in doubt brings.
func (f *fold) judgeOf(c *chunk) (size uint64, root tlog.Hash) {
	last, brought := c.first, trust.History{Origin: f.newest.Origin}
	for i := range c.other {
		if c.tree[0][i] != c.other[i] {
			last = c.first + uint64(i)
			continue
		}
		brought.Take(c.first+uint64(i), c.entries[i].e)
	}
	keys := slices.Concat(f.trust.Keys, f.signers.Load().keys, trust.Verifiers(brought.Signing))
	for i := len(c.points) - 1; i >= 0 && c.points[i].head.Size > last; i-- {
		if _, err := audit.OpenByAny(c.points[i].Signed, keys...); err == nil {
			return c.points[i].head.Size, c.points[i].head.Root
		}
	}
	return 0, root
}

// entry folds entry i of the chunk in.
func (f *fold) entry(c *chunk, i int) {
	p, index := &c.entries[i], f.state.Size()
	switch {
	case p.lost: // which is its one fault
	case errors.Is(p.bad, audit.ErrUnknown):
		f.cannot(index, p.bad)
	case p.bad != nil:
		f.faults.add(fault(CodeMalformed, c.where, "%v", p.bad).at(index))
	}
	if p.lost || p.bad != nil {
		f.lose(index)
		return
	}
	opened, _ := f.state.Shuffle(audit.ShuffleOf(p.e.Body))
	waiting := f.state.WaitingActs()
	legal := f.apply(p.e, index)
	if f.state.Genesis() == nil {
		return // a ledger without its genesis is one fault, and nothing else can be said of it
	}
	f.report.Entries[p.e.Body.Type().String()]++
	if f.times[0] == 0 {
		f.times[0] = p.e.Time
	}
	f.times[1] = max(f.times[1], p.e.Time)
	f.note(p.e, index)
	f.report.Passed = audit.PassOver(f.report.Passed, index, p.passed)
	f.persons(p.e, index, waiting, legal)
	f.deal(p.e, opened)
	f.follow(c, i, opened, legal)
}

// apply folds e into the state and names the rule that it breaks.
func (f *fold) apply(e audit.Entry, index uint64) (legal bool) {
	err := f.state.Apply(e)
	if err == nil {
		f.state.Commit()
		return true
	}
	if errors.Is(err, audit.ErrUnknown) { // in what it names, such as a policy's key
		f.cannot(index, err)
		f.lose(index)
		return false
	}
	rule, ok := errors.AsType[*audit.Illegal](err)
	if !ok {
		rule = &audit.Illegal{Code: "unnamed", Detail: err.Error()}
	}
	below, _ := audit.DisclosedBy(f.state.Counted(e.Body))
	if !f.explain(rule, e, index, below.Entries) {
		x := fault(RulePrefix+rule.Code, "", "%s", rule.Detail).at(index)
		if id := audit.ShuffleOf(e.Body); id != 0 {
			x = x.of(id)
		}
		f.faults.add(x)
	}
	f.state.Force(e)
	return false
}

// lose counts an entry whose bytes are not known.
func (f *fold) lose(index uint64) {
	f.lost.add(index)
	f.approving = 0
	f.state.Force(audit.Entry{})
}

// follow keeps what the audit needs of an entry and the state does not have.
func (f *fold) follow(c *chunk, i int, opened rules.Opened, legal bool) {
	p, index := &c.entries[i], c.first+uint64(i)
	if f.opts.side != nil {
		f.noteForPair(p, index, legal)
	}
	if _, more := p.e.Body.(*audit.DisclosureEntry); !more {
		f.release()
	}
	switch b := p.e.Body.(type) {
	case *audit.Genesis:
		f.genesis(b, p.e, index)
	case *audit.Commit:
		f.committed(b, p, index)
	case *audit.Mix:
		f.played(b.Shuffle, index, b.Checkpoint, p.e.Time)
		f.mixed(b, index, opened, legal)
	case *audit.Deal:
		f.played(b.Shuffle, index, b.Checkpoint, p.e.Time)
		if l := f.live[b.Shuffle]; l != nil {
			l.Dealt = true
		}
	case *audit.Close: // one as continued has no tape: a disclosure entry has it later
		if l := f.live[b.Shuffle]; l != nil {
			l.Closed = p.e.Time
		}
		f.ended(b, b.Outcome, b.Reason, p, index, opened, legal)
	case *audit.DisclosureEntry:
		f.ended(b, audit.OutcomeContinued, audit.ReasonNone, p, index, opened, legal)
	case *audit.Key:
		f.key(b, p.e, index)
	}
}
