package load

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
	"golang.org/x/sync/errgroup"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/shuffle"
)

// Verified counts the answers that were kept and verified.
type Verified struct {
	Answers     int     `json:"answers"`     // verified
	Of          uint64  `json:"of"`          // acknowledged with a receipt
	Entries     int     `json:"entries"`     // that these proved
	Cards       int     `json:"cards"`       // dealt, each opened against its deck root
	Tapes       int     `json:"tapes"`       // of closes, each opening its commitment and leading to its deck root
	Checkpoints int     `json:"checkpoints"` // whose signature was checked, each once
	Seconds     float64 `json:"seconds"`
	Failed      int     `json:"failed"`
	// Faults are the first of those that failed, at most 5.
	Faults []Fault `json:"faults,omitempty"`
}

// A Fault is an answer that its evidence does not prove.
type Fault struct {
	What   string `json:"what"`
	Answer string `json:"answer"`
}

// maxFaults is how many faults a report shows.
const maxFaults = 5

// answer has the members that are read of an acknowledged request's answer.
type answer struct {
	ID         uint64          `json:"id"`
	Commitment []byte          `json:"commitment"`
	DeckRoot   []byte          `json:"deck_root"`
	Receipt    string          `json:"receipt"`
	Cards      []openings.Card `json:"cards"`
	Results    []result        `json:"results"` // of a batch
}

// result is the answer to one operation of a batch.
type result struct {
	Status int    `json:"status"`
	Body   answer `json:"body"`
}

// one returns the answer itself, or the first of a batch.
func (a *answer) one() *answer {
	if len(a.Results) > 0 {
		return &a.Results[0].Body
	}
	return a
}

// checker verifies answers. Safe for concurrent use.
type checker struct {
	keys []note.Verifier
	deck shuffle.Deck // of each commit; empty for a deck that this build does not know: any deck

	mu          sync.Mutex // guards all below
	checkpoints map[string]audit.Checkpoint
	roots       map[uint64]tlog.Hash // by size
	entries     map[uint64]tlog.Hash // leaf hashes by index
	shuffles    map[uint64]*committed
	cards       int // opened
	tapes       int // recomputed
}

func newChecker(keys []note.Verifier, deck string) *checker {
	d, _ := shuffle.Named(deck)
	return &checker{keys: keys, deck: d, checkpoints: make(map[string]audit.Checkpoint),
		roots: make(map[uint64]tlog.Hash), entries: make(map[uint64]tlog.Hash), shuffles: make(map[uint64]*committed)}
}

// checkpoint returns a checkpoint whose signature verifies. A batch of entries has one, which is checked once.
func (c *checker) checkpoint(signed []byte) (audit.Checkpoint, error) {
	c.mu.Lock()
	known, ok := c.checkpoints[string(signed)]
	c.mu.Unlock()
	if ok {
		return known, nil
	}
	p, err := audit.OpenCheckpoint(signed, c.keys...)
	if err != nil {
		return p, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.checkpoints[string(signed)] = p
	if root, ok := c.roots[p.Size]; ok && root != p.Root {
		return p, fmt.Errorf("two checkpoints of %d entries have different roots: the ledger was forked", p.Size)
	}
	c.roots[p.Size] = p.Root
	return p, nil
}

// receipt returns the entry that a receipt proves, under the ledger's key. No two requests have the same entry.
func (c *checker) receipt(text string) (e audit.Entry, index uint64, origin string, err error) {
	r, err := audit.ParseReceipt(text)
	if err != nil {
		return e, 0, "", err
	}
	p, err := c.checkpoint(r.Checkpoint)
	if err != nil {
		return e, 0, "", err
	}
	if err := r.CheckInclusion(p); err != nil {
		return e, 0, "", err
	}
	if e, err = audit.ParseEntry(r.Entry); err != nil {
		return e, 0, "", err
	}
	leaf := tlog.RecordHash(r.Entry)
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, taken := c.entries[r.Index]; taken {
		return e, 0, "", fmt.Errorf("entry %d answers two requests", r.Index)
	}
	c.entries[r.Index] = leaf
	return e, r.Index, p.Origin, nil
}

// check verifies one answer against its evidence and against the request; a deal or close after its commit.
func (c *checker) check(k *claim) error {
	var a answer
	if err := json.Unmarshal(k.answer, &a); err != nil {
		return fmt.Errorf("it is not what the contract says: %w", err)
	}
	switch {
	case k.keys != nil:
		return c.batch(k, &a)
	case k.kind == Commit:
		return c.made(k, &a)
	}
	return c.played(k, &a)
}

// played checks the answer to a deal or close.
func (c *checker) played(k *claim, a *answer) error {
	e, _, _, err := c.receipt(a.Receipt)
	if err != nil {
		return err
	}
	switch b := e.Body.(type) {
	case *audit.Deal:
		if k.kind == Deal && b.Shuffle == k.shuffle && b.First == k.first && b.Count() == k.count {
			return c.opened(k, b.Runs, a.Cards)
		}
	case *audit.Close:
		if k.kind == Close && b.Shuffle == k.shuffle && b.Outcome == audit.OutcomeCompleted {
			return c.recomputed(k, b)
		}
	}
	return fmt.Errorf("the entry is a %s that was not asked for", e.Body.Type())
}

// made checks the answer to a commit.
func (c *checker) made(k *claim, a *answer) error {
	e, index, origin, err := c.receipt(a.Receipt)
	if err != nil {
		return err
	}
	b, ok := e.Body.(*audit.Commit)
	switch {
	case !ok || b.Context.Table != k.table || b.KeyTag != audit.KeyTag(origin, e.Actor.Identity, k.table, k.key):
		return fmt.Errorf("entry %d is a %s that was not asked for", index, e.Body.Type())
	case a.ID != index:
		return fmt.Errorf("it is of shuffle %d, and its receipt of entry %d", a.ID, index)
	case !slices.Equal(a.Commitment, b.Commitment[:]) || !slices.Equal(a.DeckRoot, b.DeckRoot[:]):
		return fmt.Errorf("entry %d has another commitment or deck root", index)
	}
	if err := plain(b, c.deck); err != nil {
		return fmt.Errorf("entry %d %w", index, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shuffles[index] = &committed{commit: b}
	return nil
}

// verify checks the kept answers: commits first, because the others depend on them.
func (r *run) verify(report *Report) {
	began := time.Now()
	v := &report.Verified
	var claims []*claim
	for _, w := range r.workers {
		v.Of += w.kept.seen
		for i := range w.kept.claims {
			claims = append(claims, &w.kept.claims[i])
		}
	}
	slices.SortStableFunc(claims, func(a, b *claim) int { return min(int(a.kind), 1) - min(int(b.kind), 1) })
	commits := slices.IndexFunc(claims, func(k *claim) bool { return k.kind != Commit })
	if commits < 0 {
		commits = len(claims)
	}
	c := newChecker(r.cfg.Keys, r.cfg.Deck)
	v.Answers = len(claims)
	errs := make([]error, len(claims))
	r.checkAll(c, claims, errs, 0, commits)
	r.checkAll(c, claims, errs, commits, len(claims))
	for i, err := range errs {
		if err != nil {
			v.fail(audit.Printable(err.Error()), claims[i].answer)
		}
	}
	for _, w := range r.workers {
		for _, text := range w.kept.unproved {
			v.fail("the daemon does not prove a receipt that it gave", text)
		}
	}
	v.Entries, v.Checkpoints, v.Cards, v.Tapes = len(c.entries), len(c.checkpoints), c.cards, c.tapes
	v.Seconds = time.Since(began).Seconds()
}

// checkAll checks a range of claims, on all cores.
func (r *run) checkAll(c *checker, claims []*claim, errs []error, from, to int) {
	group, _ := errgroup.WithContext(context.Background())
	group.SetLimit(runtime.GOMAXPROCS(0))
	const step = 1024 // answers between two calls of Verifying
	for at := from; at < to; at += step {
		if r.cfg.Verifying != nil {
			r.cfg.Verifying(at, len(claims))
		}
		group.Go(func() error {
			for i := at; i < min(at+step, to); i++ {
				errs[i] = c.check(claims[i])
			}
			return nil
		})
	}
	group.Wait()
}

func (v *Verified) fail(what string, answer []byte) {
	v.Failed++
	if len(v.Faults) < maxFaults {
		v.Faults = append(v.Faults, Fault{what, string(answer)})
	}
}
