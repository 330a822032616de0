// Package fsck compares the rows of a store with the evidence in them. It checks the whole ledger as package inspect
// does, and compares every other column with what follows from an entry, a checkpoint or an available key. The owner of
// a database can drop every trigger and constraint. So fsck assumes nothing: not that a key is unique, that a column is
// filled or of its type, that rows are there, or that there are no others.
//
// It reads alongside a running daemon, without its locks. The head is read first, and rows
// below it are final. Rows above it are compared with the head as it is at the end.
//
// It cannot find these changes, because nothing says how the rows were:
//
//   - the name of a ledger, unless the caller knows it
//   - a sealed tape without its sealing key, except for its length
//   - which openings, or whose receipt, are kept with an end or a deal, and whether a sealed end has all public places
//   - a missing checkpoint between two others, if both batches have the same millisecond
//   - a missing cosigned checkpoint on which no entry relies: later ones cover the same entries
//   - the order of rows
//   - access records after the last head of their chain that is an entry
//   - whether the beginning of that chain was dropped before its time was over
package fsck

import (
	"context"
	"errors"
	"fmt"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
	"shuffled/internal/inspect"
	"shuffled/internal/ledger"
	"shuffled/internal/seal"
	"shuffled/internal/store"
)

// Options say what to check, and what to compare it with.
type Options struct {
	inspect.Options

	Ledger string        // name of the ledger
	Keys   *seal.Keyring // opens sealed tapes; nil: none
	Mark   string        // high-water mark file; "": none

	// Latest asks a witness of the ledger's policies that has an address for the newest checkpoint that it cosigned for
	// an origin. nil: witnesses are not asked.
	Latest func(ctx context.Context, w trust.Witness, origin string) ([]byte, error)
}

// seen is a checkpoint of the ledger that is kept elsewhere.
type seen struct {
	by string // who keeps it
	audit.Checkpoint
}

// Report is the report of inspect, with figures about the store.
type Report struct {
	*inspect.Report
	Store Counts `json:"store"`
}

// Counts are numbers of rows, up to the head.
type Counts struct {
	Entries     uint64 `json:"entries"`
	Tiles       uint64 `json:"tiles"`
	Checkpoints uint64 `json:"checkpoints"`
	Cosigned    uint64 `json:"cosigned"`
	Late        uint64 `json:"late"`
	Decks       uint64 `json:"decks"`
	UnusedDecks uint64 `json:"unused_decks"`
	Terms       uint64 `json:"terms"`
	Statements  uint64 `json:"statements"`
	Tapes       uint64 `json:"tapes"`         // sealed tapes
	TapesOpened uint64 `json:"tapes_opened"`  // of them, opened and compared with their commitment
	Later       uint64 `json:"entries_later"` // appended while the check ran
}

// Run checks a ledger. It returns an error and no report if it cannot run.
func Run(ctx context.Context, e *store.Evidence, o Options) (*Report, error) {
	s := &source{rows: e, opts: o, asked: make(map[[32]byte]bool), once: make(map[string]bool),
		lines: make(map[uint64]int), accessHeads: make(map[uint64]ledger.AccessHead)}
	report, err := s.run(ctx)
	if !errors.Is(err, store.ErrSchema) {
		return report, err
	}
	// No more can be found out than which tables are at fault.
	var faults []inspect.Fault
	for _, t := range append(store.Relations(), store.AccessRows) {
		if err := e.Probe(ctx, t); errors.Is(err, store.ErrSchema) {
			faults = append(faults, fault(CodeSchema, t.Name, "%v", err))
		}
	}
	if len(faults) == 0 {
		faults = append(faults, fault(CodeSchema, "", "%v", err))
	}
	return &Report{Report: inspect.Refused(faults...)}, nil
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
	if r.Size == 0 { // inspect had no checkpoint to begin with
		faults, notes, err := s.Finish(ctx, inspect.Summary{Keys: new(trust.History)})
		if err != nil {
			return nil, err
		}
		r.Add(faults...)
		r.Notes = append(r.Notes, notes...)
	}
	return &Report{r, s.counts}, s.locate(ctx, r)
}

// locate sets the row of the faults that inspect found. For a root that differs it adds a
// fault for the entries between the last checkpoint below and this one.
func (s *source) locate(ctx context.Context, r *inspect.Report) error {
	var between []inspect.Fault
	for i := range r.Faults {
		f := &r.Faults[i]
		switch {
		case f.Code == inspect.CodeRoot:
			key, err := s.between(ctx, f.Size)
			if err != nil {
				return err
			}
			between = append(between, fault(CodeEntryBetween, place(store.EntryRows, "entry", key),
				"these bytes do not lead to the root that was signed for size %d", f.Size))
		case f.Entry == nil:
		case f.Code == inspect.CodeCosigned:
			f.Where = place(store.CosignedRows, "", sizeKey(f.Size))
		case f.Code == inspect.CodeRotation:
			f.Where = place(store.CheckpointRows, "checkpoint", sizeKey(*f.Entry+1))
		case f.Where == "":
			f.Where = place(store.EntryRows, "", entryKey(*f.Entry))
		case f.Where == entries:
			f.Where = place(store.EntryRows, "entry", entryKey(*f.Entry))
		}
	}
	r.Add(between...)
	return nil
}

// between returns the key of the entries that the checkpoint of a size covers, and that the
// checkpoint below it does not.
func (s *source) between(ctx context.Context, size uint64) (key string, err error) {
	below, err := s.rows.Newest(ctx, store.CheckpointRows, s.id, size, 1)
	first := uint64(0)
	if len(below) > 0 {
		n, _ := below[0].Int("size")
		first = uint64(max(n, 0))
	}
	key = entryKey(first)
	if first+1 < size {
		key += fmt.Sprintf("..%d", size-1)
	}
	return key, err
}
