// Package inspect checks a whole ledger, offline: that its entries are those of the signed and witnessed checkpoints,
// that they follow the rules, and that every disclosed tape gives the order committed to (docs/SPEC.md section 14).
//
// A fault does not end the check: all faults are found, each once. A Source says
// where the evidence is kept: in a bundle (Bundle), or in the rows of a store.
//
// One goroutine, that of the caller of Run, does everything that has an order. It is called the fold: it cuts the
// ledger into chunks of 256 entries, takes them in order, and owns the live state (rules.State), the tree and all
// counts. Workers, one for each core, do the rest. They read, hash and parse chunks ahead of the fold, and behind it
// recompute the shuffles that a chunk closed. A worker waits for nothing that was sent after its own work.
//
// The queues to the workers are short, so that memory does not grow with the ledger.
// Run ends the workers before it returns.
package inspect

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"

	lru "github.com/hashicorp/golang-lru/v2"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/audit/rules"
	"shuffled/internal/audit/trust"
	"shuffled/internal/disclosure"
	"shuffled/internal/terms"
)

// run is what all goroutines of one check share. After begin only signers changes.
type run struct {
	ctx       context.Context
	src       Source
	opts      Options
	trust     trust.Trusted
	size      uint64 // of the newest checkpoint
	newest    audit.Checkpoint
	last      Checkpoint   // the newest, signed
	older     *point       // of Options.Since; nil: none
	decks     *memory[int] // of cards
	documents *memory[*terms.Document]
	signers   atomic.Pointer[signers] // written by the fold

	tasks chan *chunk // from the fold to workers
	jobs  chan *batch // from the fold to workers
}

// Run checks the ledger that src holds. It returns an error and no report if it
// cannot run: the options cannot be read, the source fails, or ctx ends.
func Run(ctx context.Context, src Source, opts Options) (*Report, error) {
	trust, err := trust.ParseTrust(opts.VKey, opts.Policy)
	if err != nil {
		return nil, err
	}
	r := &run{ctx: ctx, src: src, opts: opts, trust: trust}
	early, err := r.open()
	if err != nil {
		return nil, err
	}
	report := newReport(r.newest.Origin, r.size, len(trust.Keys) > 0)
	if r.size == 0 {
		report.Add(early...)
		report.Notes = []string{"nothing but the checkpoint was looked at"}
		return report, nil
	}
	f, err := r.begin(report)
	if err != nil {
		return nil, err
	}
	f.faults.add(early...)
	report, err = f.pipeline(ctx)
	return report, errors.Join(err, f.seen.close(), f.heads.close(), f.out.close())
}

// begin prepares a check, and opens its files.
func (r *run) begin(report *Report) (*fold, error) {
	r.decks, _ = lru.New[[32]byte, func() (int, error)](deckMemory) // no error: the size is positive
	r.documents, _ = lru.New[[32]byte, func() (*terms.Document, error)](deckMemory)
	depth := depthPerWorker * runtime.GOMAXPROCS(0)
	r.tasks, r.jobs = make(chan *chunk, depth), make(chan *batch, depth)
	f := &fold{run: r, state: rules.NewState(), edge: new(edge),
		play: play{live: make(map[uint64]*live), noDeck: make(map[[32]byte]bool)},
		figures: figures{tables: make(map[string]*Counts), paces: make(map[string]*pace),
			drawnFrom: make(map[int]bool)},
		signing: signing{openers: make(map[uint64]*disclosure.Opener), policies: &trust.Policies{}, due: r.trust.Keys},
		report:  report, faults: newFindings(), judged: newFindings()}
	f.checks, _ = lru.New[beaconValue, roundCheck](checkMemory)
	for _, g := range r.opts.Tickets {
		report.Tickets.Lists = append(report.Tickets.Lists, SeenList{Name: audit.Printable(g.Name), Count: g.Count,
			Root: base64.StdEncoding.EncodeToString(g.Root[:])})
	}
	f.publish()
	var err error
	if f.cosigned.everPinned, err = r.everPinned(); err != nil {
		return nil, err
	}
	if r.opts.Shuffles != "" {
		if f.out, err = openLines(r.opts.Shuffles, r.opts.Keep); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// open reads what the check begins with: the newest checkpoint and the older one. Without the size of the newest there
// is nothing to check, and the faults say why.
func (r *run) open() (faults []Fault, err error) {
	r.last, err = r.src.Newest(r.ctx)
	if d, ok := errors.AsType[*Damage](err); ok {
		return []Fault{d.Fault}, nil
	}
	if err != nil {
		return nil, err
	}
	if r.newest, err = audit.CheckpointText(r.last.Signed); err == nil {
		err = audit.CheckOrigin(r.newest.Origin)
	}
	if err != nil {
		return []Fault{fault(CodeCheckpoint, r.last.Where, "%v", err)}, nil
	}
	if r.size = r.newest.Size; r.size == 0 {
		return []Fault{fault(CodeCheckpoint, r.last.Where,
			"a ledger has at least its genesis, and the checkpoint covers no entry")}, nil
	}
	if r.opts.Since == nil {
		return nil, nil
	}
	const where = "the older checkpoint"
	head, err := audit.CheckpointText(r.opts.Since)
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading the older checkpoint: %w", err)
	case head.Size == 0:
		return nil, errors.New("reading the older checkpoint: it covers no entry")
	case head.Origin != r.newest.Origin:
		faults = append(faults, fault(CodeSince, where, "it is of %s, the ledger of %s", head.Origin, r.newest.Origin))
	case head.Size > r.size:
		faults = append(faults, fault(CodeSince, where, "it covers %d entries, the newest only %d", head.Size, r.size))
	default:
		r.older = &point{Checkpoint: Checkpoint{r.opts.Since, where}, kind: kindSince, head: head}
	}
	return faults, nil
}

// everPinned returns the size of the newest cosigned checkpoint with the quorum that the caller trusts, 0 for none: any
// of them witnesses a commit that was never dealt from. It looks from the end, in steps that double.
func (r *run) everPinned() (newest uint64, err error) {
	if !r.trust.Policy.Asks() {
		return 0, nil
	}
	for step := uint64(Width); newest == 0; step *= 2 {
		from := r.size - min(step, r.size-1)
		for c, err := range r.src.Checkpoints(r.ctx, KindCosigned, from) {
			if err != nil {
				break // named when the fold comes there
			}
			head, err := audit.CheckpointText(c.Signed)
			if err == nil && head.Size > newest && head.Size <= r.size && r.trust.Policy.Satisfied(c.Signed) {
				newest = head.Size
			}
		}
		if from == 1 {
			break
		}
	}
	return newest, r.ctx.Err()
}

// Options say what to trust and how to work. The zero Options pin nothing.
type Options struct {
	VKey     string                // verifier key of the ledger; at most one of VKey and Policy is set
	Policy   []byte                // C2SP tlog-policy: log lines pin keys, the quorum asks for cosignatures
	Since    []byte                // an older signed checkpoint, which the ledger must extend; nil: none
	Auditors []*disclosure.Auditor // open tapes that were sealed to them
	At       int64                 // open shuffles are overdue by this time, UTC milliseconds
	Tickets  []TicketList          // lists that shuffles of this ledger are drawn from
	From, To int64                 // the report counts shuffles committed from From until before To; 0: no bound

	Shuffles string                   // file to write, with a line of JSON for each counted shuffle of Keep; "": none
	Keep     func(*ShuffleLine) bool  // nil: all
	Progress func(done, total uint64) // entries; called by the goroutine of Run, for each chunk; nil: not called

	// Recomputed is called by the goroutine of Run, in the order of the closes, for each
	// closed shuffle that the figures are about and whose tape led to its deck root. nil: not called.
	Recomputed func(Recomputed)

	side *side // of the audit of a pair; nil: the ledger is judged alone
}

// Recomputed is a shuffle whose tape led to its deck root.
type Recomputed struct {
	openings.Statement // what an auditor may sign if the ledger holds (docs/SPEC.md section 8.1)
	Context            *audit.Context
	Values             []uint32   // that the tape gave, by position; of a child, places in its list of positions
	Mix                *audit.Mix // nil: none
}
