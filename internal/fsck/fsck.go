package fsck

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"shuffled/internal/audit"
	"shuffled/internal/inspect"
	"shuffled/internal/ledger"
	"shuffled/internal/seal"
	"shuffled/internal/store"
)

// Options say what to check, and what to hold it against.
type Options struct {
	inspect.Options

	Ledger string        // name of the ledger
	Keys   *seal.Keyring // opens sealed tapes; nil: none
	Mark   string        // high-water mark file; "": none

	// Witness reaches a witness of the ledger's policies, or returns nil for one
	// that cannot be reached; nil: they are not asked.
	Witness func(audit.Witness) Witness
}

// Witness tells the newest checkpoint that it cosigned for an origin, or
// audit.ErrWitnessNone.
type Witness interface {
	Latest(ctx context.Context, origin string) ([]byte, error)
}

// seen is a checkpoint of the ledger that was kept elsewhere.
type seen struct {
	by string // who kept it
	audit.Checkpoint
}

// Report is that of inspect, with what was found in the store.
type Report struct {
	*inspect.Report
	Store Counts `json:"store"`
}

// Counts are of rows and what was done with them.
type Counts struct {
	Entries     uint64 `json:"entries"`
	Tiles       uint64 `json:"tiles"`
	Checkpoints uint64 `json:"checkpoints"`
	Cosigned    uint64 `json:"cosigned"`
	Decks       uint64 `json:"decks"`
	UnusedDecks uint64 `json:"unused_decks"`
	Tapes       uint64 `json:"tapes"`         // sealed tapes
	TapesOpened uint64 `json:"tapes_opened"`  // of them, opened and held against their commitment
	Later       uint64 `json:"entries_later"` // appended while the check ran
}

// Run checks a ledger. It returns an error, and no report, when it cannot run.
func Run(ctx context.Context, e *store.Evidence, o Options) (*Report, error) {
	s := &source{rows: e, opts: o, asked: make(map[[32]byte]bool), once: make(map[string]bool),
		lines: make(map[uint64]int), accessHeads: make(map[uint64]ledger.AccessHead),
		tallies: make(map[uint64]*tally), tiles: make(map[string]bool)}
	report, err := s.run(ctx)
	if !errors.Is(err, store.ErrSchema) {
		return report, err
	}
	// No more of it can be read, but which tables are at fault.
	report = &Report{Report: &inspect.Report{Format: inspect.ReportFormat, Verdict: inspect.Failed,
		FaultCodes: make(map[string]uint64),
		Unknown:    []string{}, Notes: []string{}, Keys: []inspect.KeyLine{}, Tables: []inspect.TableCounts{},
		Open: []inspect.OpenShuffle{}}}
	for _, t := range append(store.Relations(), store.AccessRows) {
		if err := e.Probe(ctx, t); errors.Is(err, store.ErrSchema) {
			report.add(fault(CodeSchema, t.Name, "%v", err))
		}
	}
	if report.FaultCount == 0 {
		report.add(fault(CodeSchema, "", "%v", err))
	}
	return report, nil
}

// run checks a ledger whose tables can be read.
func (s *source) run(ctx context.Context) (*Report, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	r, err := inspect.Run(ctx, s, s.opts.Options)
	if err != nil {
		return nil, err
	}
	report := &Report{Report: r}
	if !s.finished { // there is nothing to begin with
		faults, notes, err := s.Finish(ctx, inspect.Summary{})
		if err != nil {
			return nil, err
		}
		for _, f := range faults {
			report.add(f)
		}
		report.Notes = append(report.Notes, notes...)
	}
	report.Store = s.total()
	if err := s.locate(ctx, report); err != nil {
		return nil, err
	}
	return report, s.narrow(ctx, report)
}

// add adds a fault to a finished report.
func (r *Report) add(f inspect.Fault) {
	r.FaultCount++
	r.FaultCodes[f.Code]++
	r.Verdict = inspect.Failed
	if len(r.Faults) < inspect.MaxFaults {
		r.Faults = append(r.Faults, f)
	}
}

// locate says of faults that inspect found in entries in which row that is.
func (s *source) locate(ctx context.Context, r *Report) error {
	for i := range r.Faults {
		f := &r.Faults[i]
		switch {
		case f.Entry == nil:
		case f.Code == inspect.CodeCosigned:
			rows, err := s.rows.Range(ctx, store.EntryRows, s.id, *f.Entry, *f.Entry+1)
			if err != nil {
				return err
			}
			for _, row := range rows {
				f.Where = place(store.CosignedRows, "", fmt.Sprintf("size=%d", reliesOn(row)))
			}
		case f.Code == inspect.CodeRotation:
			f.Where = place(store.CheckpointRows, "checkpoint", fmt.Sprintf("size=%d", *f.Entry+1))
		case f.Where == "":
			f.Where = place(store.EntryRows, "", fmt.Sprintf("idx=%d", *f.Entry))
		case f.Where == place(store.EntryRows, "entry", ""):
			f.Where = place(store.EntryRows, "entry", fmt.Sprintf("idx=%d", *f.Entry))
		}
	}
	return nil
}

// reliesOn returns the size of the cosigned checkpoint that a mix or deal names.
func reliesOn(r store.Raw) uint64 {
	b, _ := r.Bytes("entry")
	e, err := audit.ParseEntry(b)
	if err != nil {
		return 0
	}
	switch b := e.Body.(type) {
	case *audit.Mix:
		return b.Cosigned
	case *audit.Deal:
		return b.Cosigned
	}
	return 0
}

// narrow names the entries that a fault of a root is about: those between the
// last checkpoint that holds and the one that does not.
func (s *source) narrow(ctx context.Context, r *Report) error {
	for _, f := range r.Faults {
		if f.Code != inspect.CodeRoot {
			continue
		}
		size, ok := s.sizeAt(f.Where)
		if !ok {
			continue
		}
		first := uint64(0)
		below, err := s.rows.Newest(ctx, store.CheckpointRows, s.id, size, 1)
		if err != nil {
			return err
		}
		if len(below) > 0 {
			n, _ := below[0].Int("size")
			first = uint64(max(n, 0))
		}
		key := fmt.Sprintf("idx=%d", first)
		if first+1 < size {
			key += fmt.Sprintf("..%d", size-1)
		}
		r.add(fault(CodeEntryBetween, place(store.EntryRows, "entry", key),
			"these bytes do not lead to the root that was signed for size %d", size))
	}
	return nil
}

// sizeAt reads the size out of the place of a checkpoint.
func (s *source) sizeAt(where string) (size uint64, ok bool) {
	if where == place(store.HeadRows, "checkpoint", s.headKey()) {
		return s.size, true
	}
	for _, t := range []*store.Relation{store.CheckpointRows, store.CosignedRows} {
		if rest, found := strings.CutPrefix(where, t.Name+".checkpoint[size="); found {
			_, err := fmt.Sscanf(rest, "%d]", &size)
			return size, err == nil
		}
	}
	return 0, false
}
