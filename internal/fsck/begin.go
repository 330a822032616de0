package fsck

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
	"shuffled/internal/ledger"
	"shuffled/internal/store"
)

// begin finds the ledger, reads the checkpoints of it that others keep, and then its head.
func (s *source) begin(ctx context.Context) error {
	if err := s.resolve(ctx); err != nil {
		return err
	}
	if err := s.learnKeys(ctx); err != nil {
		return err
	}
	// The head is read last: it cannot be older then than what others keep.
	s.readMark()
	s.askWitnesses(ctx)
	return s.readHead(ctx)
}

// resolve finds the ledger's number: by its origin if the caller trusts a key of it, and
// otherwise by the catalogue, which may be wrong.
func (s *source) resolve(ctx context.Context) (err error) {
	if s.catalogue, err = s.rows.Ledgers(ctx); err != nil {
		return err
	}
	if keys := s.opts.trusted().Keys; len(keys) > 0 {
		s.origin = keys[0].Name()
		s.id = ledger.IDOf(s.origin)
		return s.somewhere(ctx)
	}
	i := slices.IndexFunc(s.catalogue, func(r store.Raw) bool { return same(r, "name", s.opts.Ledger) })
	if i < 0 {
		return fmt.Errorf("there is no ledger %s in the database", s.opts.Ledger)
	}
	s.origin, _ = s.catalogue[i].Text("origin")
	id, numbered := s.catalogue[i].Int("ledger")
	for _, s.id = range []ledger.ID{ledger.IDOf(s.origin), ledger.ID(id)} {
		if there, err := s.present(ctx); err != nil {
			return err
		} else if there {
			return s.genesisOrigin(ctx)
		}
	}
	if s.origin != "" || !numbered {
		s.id = ledger.IDOf(s.origin)
	}
	return nil
}

// trusted returns the keys and the policy that the caller trusts. If they cannot be read, inspect reports it.
func (o Options) trusted() audit.Trusted {
	t, _ := audit.ParseTrust(o.VKey, o.Policy)
	return t
}

// somewhere returns an error if the database has nothing of the ledger: then another database or another key was meant.
func (s *source) somewhere(ctx context.Context) error {
	for _, row := range s.catalogue {
		if same(row, "origin", s.origin) || same(row, "ledger", int64(s.id)) {
			return nil
		}
	}
	there, err := s.present(ctx)
	if err == nil && !there {
		err = fmt.Errorf("the trusted key is of %s, and the database has no ledger of this origin", s.origin)
	}
	return err
}

// present reports whether there is a head or an entry under the ledger's number.
func (s *source) present(ctx context.Context) (bool, error) {
	heads, err := s.rows.Heads(ctx, s.id)
	if err != nil || len(heads) > 0 {
		return true, err
	}
	entries, err := s.rows.Newest(ctx, store.EntryRows, s.id, allSizes, 1)
	return len(entries) > 0, err
}

// genesisOrigin takes the origin from the genesis, if the ledger's number is that of the origin.
func (s *source) genesisOrigin(ctx context.Context) error {
	rows, err := s.rows.Range(ctx, store.EntryRows, s.id, 0, 1)
	for _, row := range rows {
		b, _ := row.Bytes("entry")
		if e, err := audit.ParseEntry(b); err == nil {
			if g, ok := e.Body.(*audit.Genesis); ok && ledger.IDOf(g.Origin) == s.id {
				s.origin = g.Origin
			}
		}
	}
	return err
}

// learnKeys collects the keys that may have signed a checkpoint: those that are trusted, and those that entries bring.
// They tell checkpoints from other bytes. Package inspect judges which of them were in force.
func (s *source) learnKeys(ctx context.Context) error {
	trusted := s.opts.trusted()
	s.keys, s.history.Origin = trusted.Keys, s.origin
	if trusted.Policy != nil {
		s.witnesses = trusted.Policy.Witnesses
	}
	genesis, err := s.rows.Range(ctx, store.EntryRows, s.id, 0, 1)
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
			if s.lines != nil { // it may have changed the signing key
				s.said = append(s.said, fmt.Sprintf("signature lines of signed checkpoints were not counted: %s cannot be read, and may bring a signing key",
					placeOf(row, "entry")))
			}
			s.lines = nil
			continue
		}
		index, _ := row.Int("idx")
		s.history.Take(uint64(index), e) // inspect judges a key that cannot be used
	}
	for _, k := range audit.Verifiers(s.history.Signing) {
		if !slices.ContainsFunc(s.keys, func(o note.Verifier) bool { return o.KeyHash() == k.KeyHash() }) {
			s.keys = append(s.keys, k)
		}
	}
	for _, p := range policiesOf(&s.history) {
		s.witnesses = append(s.witnesses, p.Witnesses...)
	}
	return nil
}

// signed reports whether one of the known keys signed the checkpoint.
func (s *source) signed(b []byte) bool {
	_, err := audit.OpenByAny(b, s.keys...)
	return err == nil
}

// readMark reads this host's high-water mark.
func (s *source) readMark() {
	if s.opts.Mark == "" {
		return
	}
	c, err := ledger.ReadMark(s.opts.Mark, s.keys...)
	switch {
	case errors.Is(err, ledger.ErrNoMark):
		s.said = append(s.said,
			"this host has no high-water mark of the ledger: only an older checkpoint or the witnesses would show that the whole database is an older one")
	case err != nil:
		s.add(CodeMark, s.opts.Mark, "%v", err)
	default:
		s.seen = append(s.seen, seen{"the high-water mark of this host", c})
	}
}

// askWitnesses asks every witness that the ledger names for its newest checkpoint.
func (s *source) askWitnesses(ctx context.Context) {
	if s.opts.Witness == nil {
		return
	}
	asked := make(map[string]bool)
	for _, w := range s.witnesses {
		if asked[w.VKey] {
			continue
		}
		asked[w.VKey] = true
		witness := s.opts.Witness(w)
		if witness == nil {
			continue
		}
		b, err := witness.Latest(ctx, s.origin)
		if err != nil {
			s.said = append(s.said, fmt.Sprintf("the witness %s shows no checkpoint: %v", w.Name, err))
			continue
		}
		c, err := audit.OpenByAny(b, s.keys...)
		if err != nil {
			s.said = append(s.said,
				fmt.Sprintf("the witness %s shows a checkpoint that no known key of the ledger signed", w.Name))
			continue
		}
		s.seen = append(s.seen, seen{"the witness " + w.Name, c})
	}
}

const allSizes = math.MaxInt64
