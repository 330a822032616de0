package cosign

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
	"shuffled/internal/ledger"
)

// core is the ledger that is witnessed, with its parts.
type core struct {
	*ledger.Core
	cfg   ledger.Config
	shown *ledger.Shown
	life  *ledger.Life
}

// address is where a witness is asked. A policy that waits or is tried may have another address for the same witness;
// then it is asked at both.
type address string

// addressOf returns the address that a policy has for a witness.
func addressOf(w trust.Witness) address { return address(w.VKey + " " + w.URL) }

// policyHistory follows which policy governs: an entry brings a policy, and a stored checkpoint lets it take over. It
// belongs to the goroutine of Rounds.run; any goroutine may read shown.
type policyHistory struct {
	l      *core
	in     *trust.Policies
	record int    // how many records of the key history were taken in
	looked uint64 // no stored checkpoint below this size lets a waiting policy take over
	shown  atomic.Pointer[trust.Policies]
}

func newPolicyHistory(l *core) (*policyHistory, error) {
	in, err := trust.NewPolicies(l.Genesis().Policy)
	return &policyHistory{l: l, in: in}, err
}

// open returns the policy in force and those that wait.
func (p *policyHistory) open() []*trust.Policy {
	list := []*trust.Policy{p.in.InForce()}
	for _, waiting := range p.in.Waiting() {
		list = append(list, waiting.Policy)
	}
	return slices.DeleteFunc(list, func(policy *trust.Policy) bool { return !policy.Asks() })
}

// witnesses returns the witnesses of the policy in force and of the policies that wait, each
// once for each of its addresses.
func (p *policyHistory) witnesses() (all []trust.Witness) {
	seen := make(map[address]bool)
	for _, policy := range p.open() {
		for _, one := range policy.Witnesses {
			if at := addressOf(one); !seen[at] {
				seen[at] = true
				all = append(all, one)
			}
		}
	}
	return all
}

// learn takes in the policies of new entries, and reports whether there was one. An error is
// only logged: the rules let no policy into the ledger that cannot be read.
func (p *policyHistory) learn() (news bool) {
	records := p.l.shown.Keys.Load().Records
	for ; p.record < len(records); p.record++ {
		r := records[p.record]
		if r.Subject != audit.SubjectPolicy || r.Index == 0 {
			continue
		}
		if err := p.in.Change(r.Index, r.Policy); err != nil {
			p.l.cfg.Log.Error("unreadable witness policy", "entry", r.Index, "error", err)
			continue
		}
		news = true
	}
	if news || p.shown.Load() == nil {
		p.show()
	}
	return news
}

// show shows the policies as they are. What is shown does not change: they only grow, and lose what no longer waits.
func (p *policyHistory) show() {
	now := *p.in
	p.shown.Store(&now)
}

// quorums returns those that a round for a head of that size needs; none if no witness is to be
// asked. A head that lets a waiting policy take over needs both quorums, though the old one's is
// enough for docs/SPEC.md section 7.3: the new one is shown to be met before it governs.
func (p *policyHistory) quorums(size uint64) []*trust.Policy {
	if !p.in.At(size).Asks() {
		return nil
	}
	return []*trust.Policy{p.in.At(size), p.in.Next(size)}
}

// unseen returns 0 if a head of that size lets no waiting policy take over. If it does, unseen
// returns the size from which on follow has read no stored checkpoint.
func (p *policyHistory) unseen(size uint64) uint64 {
	waiting := p.in.Waiting()
	if len(waiting) == 0 || waiting[0].Index >= size {
		return 0
	}
	return max(p.looked, waiting[0].Index+1)
}

// follow has the newest waiting policy take over that a stored cosigned checkpoint lets, and reports whether there was
// one. Without a waiting policy it reads nothing. Each checkpoint that does not hold is passed over once.
func (p *policyHistory) follow() (changed bool) {
	for waiting := p.in.Waiting(); len(waiting) > 0; waiting = p.in.Waiting() {
		h, ok := p.nextHandover(max(p.looked, waiting[0].Index+1))
		if !ok {
			break
		}
		p.in.Accept(h.Size, h.Checkpoint)
		p.show()
		p.l.cfg.Log.Info("a witness policy is in force", "entry", waiting[len(waiting)-len(p.in.Waiting())-1].Index,
			"after_size", h.Size)
		changed = true
	}
	return changed
}

// nextHandover returns the first stored checkpoint of at least a size that lets a policy take
// over. It returns false if there is none, or if the rest must be looked at later.
func (p *policyHistory) nextHandover(from uint64) (ledger.Head, bool) {
	ctx, cancel := context.WithTimeout(p.l.life.Running, ledger.StoreTimeout)
	defer cancel()
	head := p.l.Head()
	for h, err := range p.l.cfg.Store.CosignedFrom(ctx, p.l.ID(), from) {
		if err != nil || h.Size > head.Size {
			break
		}
		c, invalid := audit.OpenCheckpoint(h.Checkpoint, p.l.SignedBy(h.Size)...)
		held := invalid == nil && c.Size == h.Size && c.Root == h.Root // the ledger signed it
		if held {
			if held, err = p.l.Extends(ctx, head, c); err != nil {
				break
			}
		}
		p.looked = h.Size + 1
		if policy := p.in.At(h.Size); held && policy != nil && policy.Satisfied(h.Checkpoint) {
			return h, true
		}
	}
	return ledger.Head{}, false
}

// late is about the witnesses that have an interval. They take no part in the rounds. Each is offered a cosigned head,
// once in its interval at most. The checkpoint with its cosignature is stored as a late checkpoint.
type late struct {
	turn  sync.Mutex           // held by the goroutine that asks; guards the rest
	asked map[string]time.Time // when each was asked last, by the name of its key
	size  uint64               // of the newest late checkpoint, as far as known
}

// How many late checkpoints a look-up reads: first firstLateRows, because a transcript is
// mostly served under one of these, and then lateRows.
const (
	firstLateRows = 8
	lateRows      = 128
)

// read takes the times of cosignatures from late checkpoints that hold and were not read before, newest first. It
// ignores a time in the future, which would put off the next question to the witness.
func (t *late) read(rows []ledger.Head, slow []trust.Witness) {
	if len(rows) > 0 {
		t.size = rows[0].Size
	}
	now := time.Now()
	for _, one := range slow {
		alone, name := trust.Policy{Witnesses: []trust.Witness{one}}, one.Key.Name()
		for _, h := range rows {
			by := alone.Cosignatures(h.Checkpoint)
			if len(by) == 0 {
				continue
			}
			if at := time.Unix(by[0].Time, 0); !at.After(now) {
				if at.After(t.asked[name]) {
					t.asked[name] = at
				}
				break
			}
		}
	}
}

// due returns the witnesses to ask now. A witness whose interval is over waits for all that have the same or a shorter
// interval, so that some checkpoints have the cosignatures of all. It waits for one more interval of its own at most.
func (t *late) due(intervals map[string]time.Duration, slow []trust.Witness) (due []trust.Witness) {
	slow = slices.SortedStableFunc(slices.Values(slow), func(a, b trust.Witness) int {
		return cmp.Compare(intervals[a.Key.Name()], intervals[b.Key.Name()])
	})
	now, together := time.Now(), true
	for _, one := range slow {
		every, since := intervals[one.Key.Name()], now.Sub(t.asked[one.Key.Name()])
		together = together && since >= every
		if together || since >= 2*every {
			due = append(due, one)
		}
	}
	return due
}
