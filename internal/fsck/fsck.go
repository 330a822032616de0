package fsck

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/note"

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
	Origin string        // and its origin, if the caller knows it
	Keys   *seal.Keyring // opens sealed tapes; nil: none
	Mark   string        // high-water mark file; "": none
	Seen   []Seen        // what others have seen
}

// Seen is a checkpoint of the ledger that was kept elsewhere.
type Seen struct {
	By         string // who kept it
	Checkpoint audit.Checkpoint
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
	s := &source{rows: e, opts: o, asked: make(map[[32]byte]bool), once: make(map[string]bool)}
	if err := s.begin(ctx); errors.Is(err, store.ErrSchema) {
		return s.unreadable(err), nil
	} else if err != nil {
		return nil, err
	}
	r, err := inspect.Run(ctx, s, o.Options)
	if err != nil {
		return nil, err
	}
	report := &Report{Report: r}
	if !s.finished { // there is nothing to begin with
		faults, notes, err := s.Finish(ctx, inspect.Summary{Broken: true})
		if err != nil {
			return nil, err
		}
		for _, f := range faults {
			report.add(f)
		}
		report.Notes = append(report.Notes, notes...)
	}
	report.Store = s.counts.read()
	return report, s.narrow(ctx, report)
}

// unreadable is the report of tables that are not those of the schema.
func (s *source) unreadable(err error) *Report {
	r := &Report{Report: &inspect.Report{Format: inspect.ReportFormat, Verdict: inspect.Failed,
		FaultCodes: make(map[string]uint64), Unknown: []string{}, Notes: []string{}, Tables: []inspect.TableCounts{}, Open: []inspect.OpenShuffle{}}}
	r.add(fault(CodeSchema, "", "%v", err))
	return r
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
		below, err := s.rows.Newest(ctx, store.TableCheckpoints, s.id, size, 1)
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
		r.add(fault(CodeEntryBetween, place(store.TableEntries, "entry", key), "these bytes do not lead to the root that was signed for size %d", size))
	}
	return nil
}

// sizeAt reads the size out of the place of a checkpoint.
func (s *source) sizeAt(where string) (size uint64, ok bool) {
	if where == place(store.TableHeads, "checkpoint", s.headKey()) {
		return s.size, true
	}
	for _, t := range []*store.Table{store.TableCheckpoints, store.TableCosigned} {
		if rest, found := strings.CutPrefix(where, t.Name+".checkpoint[size="); found {
			_, err := fmt.Sscanf(rest, "%d]", &size)
			return size, err == nil
		}
	}
	return 0, false
}

// begin finds the ledger, reads what others have seen of it, and then its head.
func (s *source) begin(ctx context.Context) error {
	if err := s.resolve(ctx); err != nil {
		return err
	}
	if err := s.learnKeys(ctx); err != nil {
		return err
	}
	// What was seen is read before the head, which then is not older.
	if err := s.readMark(); err != nil {
		return err
	}
	return s.readHead(ctx)
}

// resolve finds the ledger's number: by its origin, if the caller knows it, and
// else by the catalogue, which says less.
func (s *source) resolve(ctx context.Context) (err error) {
	if s.catalogue, err = s.rows.Ledgers(ctx); err != nil {
		return err
	}
	if s.origin = s.opts.Origin; s.origin != "" {
		s.id = ledger.IDOf(s.origin)
		return nil
	}
	for _, row := range s.catalogue {
		if name, _ := row.Text("name"); name != s.opts.Ledger {
			continue
		}
		origin, _ := row.Text("origin")
		id, numbered := row.Int("ledger")
		for _, candidate := range []ledger.ID{ledger.IDOf(origin), ledger.ID(id)} {
			heads, err := s.rows.Heads(ctx, candidate)
			if err != nil {
				return err
			}
			entries, err := s.rows.Range(ctx, store.TableEntries, candidate, 0, 1)
			if err != nil {
				return err
			}
			if len(heads)+len(entries) > 0 {
				s.id, s.origin = candidate, origin
				return s.genesisOrigin(entries)
			}
		}
		s.id, s.origin = ledger.IDOf(origin), origin
		if numbered && origin == "" {
			s.id = ledger.ID(id)
		}
		return nil
	}
	return fmt.Errorf("there is no ledger %s in the database", s.opts.Ledger)
}

// genesisOrigin takes the origin from the genesis if that has the number.
func (s *source) genesisOrigin(entries []store.Raw) error {
	for _, row := range entries {
		b, _ := row.Bytes("entry")
		if e, err := audit.ParseEntry(b); err == nil {
			if g, ok := e.Body.(*audit.Genesis); ok && ledger.IDOf(g.Origin) == s.id {
				s.origin = g.Origin
			}
		}
	}
	return nil
}

// learnKeys collects the keys that may have signed a checkpoint: those that are
// trusted, and those that entries name. They tell checkpoints from noise; whether
// one was in force is inspect's to judge.
func (s *source) learnKeys(ctx context.Context) error {
	if s.opts.VKey != "" {
		if k, err := audit.ParseVKey(s.opts.VKey); err == nil {
			s.keys = append(s.keys, k)
		}
	}
	if p, err := audit.ParsePolicy(s.opts.Policy); err == nil && len(s.opts.Policy) > 0 {
		s.keys = append(s.keys, p.Logs...)
	}
	genesis, err := s.rows.Range(ctx, store.TableEntries, s.id, 0, 1)
	if err != nil {
		return err
	}
	changes, err := s.rows.OfType(ctx, s.id, int(audit.TypeKey))
	if err != nil {
		return err
	}
	for _, row := range append(genesis, changes...) {
		b, _ := row.Bytes("entry")
		e, err := audit.ParseEntry(b)
		if err != nil {
			continue
		}
		var public []byte
		switch body := e.Body.(type) {
		case *audit.Genesis:
			public = body.SigningKey
		case *audit.Key:
			if body.Subject == audit.SubjectSigning {
				public = body.Public
			}
		}
		if k, err := audit.Verifier(s.origin, public); err == nil && !slices.ContainsFunc(s.keys, func(o note.Verifier) bool { return o.KeyHash() == k.KeyHash() }) {
			s.keys = append(s.keys, k)
		}
	}
	return nil
}

// signed reports whether one of the known keys signed the checkpoint.
func (s *source) signed(b []byte) bool {
	_, err := audit.OpenCheckpoint(b, s.keys...)
	return err == nil
}

// readMark reads this host's high-water mark.
func (s *source) readMark() error {
	s.seen = slices.Clone(s.opts.Seen)
	if s.opts.Mark == "" {
		return nil
	}
	c, err := ledger.ReadMark(s.opts.Mark, s.keys...)
	switch {
	case errors.Is(err, ledger.ErrNoMark):
		s.markless = "this host has no high-water mark of the ledger: only --since or --witnesses would show that the whole database is an older one"
	case err != nil:
		s.add(fault(CodeMark, s.opts.Mark, "%v", err))
	default:
		s.seen = append(s.seen, Seen{"the high-water mark of this host", c})
	}
	return nil
}

const allSizes = math.MaxInt64
