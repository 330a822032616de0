package fsck

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
	"shuffled/internal/ledger"
	"shuffled/internal/ledger/sequencer"
	"shuffled/internal/stops"
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
	if err := s.askWitnesses(ctx); err != nil {
		return err
	}
	return s.readHead(ctx)
}

// resolve finds the ledger's number: by its origin if the caller trusts a key of it, and otherwise by the catalogue,
// which may be wrong.
func (s *source) resolve(ctx context.Context) (err error) {
	if s.catalogue, err = s.rows.Ledgers(ctx); err != nil {
		return err
	}
	var numbers []ledger.ID
	trusted := s.opts.trusted().Keys
	if len(trusted) > 0 {
		s.origin = trusted[0].Name()
	} else {
		i := slices.IndexFunc(s.catalogue, func(r store.Raw) bool { return same(r, "name", s.opts.Ledger) })
		if i < 0 {
			return fmt.Errorf("%w %s in the database", stops.NoLedger, s.opts.Ledger)
		}
		s.origin, _ = s.catalogue[i].Text("origin")
		if id, ok := s.catalogue[i].Int("ledger"); ok {
			numbers = append(numbers, ledger.ID(id))
		}
	}
	for _, s.id = range append([]ledger.ID{ledger.IDOf(s.origin)}, numbers...) {
		if there, err := s.present(ctx); err != nil || there {
			return err
		}
	}
	if len(numbers) > 0 && s.origin != "" {
		s.id = ledger.IDOf(s.origin)
	}
	// Nothing of the ledger is there: another database or another key was meant, if the catalogue does not know it.
	if len(trusted) > 0 && !slices.ContainsFunc(s.catalogue, func(r store.Raw) bool {
		return same(r, "origin", s.origin) || same(r, "ledger", int64(s.id))
	}) {
		return fmt.Errorf("the trusted key is of %s, and the database has no ledger of this origin", s.origin)
	}
	return nil
}

// present reports whether there is a head or an entry under the ledger's number. It takes the origin from the genesis,
// if the number is that of the origin.
func (s *source) present(ctx context.Context) (bool, error) {
	heads, err := s.rows.Heads(ctx, s.id)
	if err != nil {
		return false, err
	}
	entries, err := s.rows.Newest(ctx, store.EntryRows, s.id, allSizes, 1)
	if err != nil {
		return false, err
	}
	genesis, err := s.rows.Range(ctx, store.EntryRows, s.id, 0, 1)
	for _, row := range genesis {
		b, _ := row.Bytes("entry")
		if e, err := audit.ParseEntry(b); err == nil {
			if g, ok := e.Body.(*audit.Genesis); ok && ledger.IDOf(g.Origin) == s.id {
				s.origin = g.Origin
			}
		}
	}
	return len(heads)+len(entries) > 0, err
}

// trusted returns the keys and the policy that the caller trusts. If they cannot be read, inspect reports it.
func (o Options) trusted() trust.Trusted {
	t, _ := trust.ParseTrust(o.VKey, o.Policy)
	return t
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
				s.say("signature lines of signed checkpoints were not counted: %s cannot be read, and may bring a signing key",
					placeOf(row, "entry"))
			}
			s.lines = nil
			continue
		}
		index, _ := row.Int("idx")
		s.history.Take(uint64(index), e) // inspect judges a key that cannot be used
	}
	for _, k := range trust.Verifiers(s.history.Signing) {
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
	c, _, err := sequencer.ReadMark(s.opts.Mark, s.keys...)
	switch {
	case errors.Is(err, stops.NoMark):
		s.say("this host has no high-water mark of the ledger: only an older checkpoint or the witnesses would show that the whole database is an older one")
	case err != nil:
		s.add(CodeMark, s.opts.Mark, "%v", err)
	default:
		s.seen = append(s.seen, seen{"the high-water mark of this host", c})
	}
}

// witnessPatience is how long one witness has to answer.
const witnessPatience = 10 * time.Second

// askWitnesses asks every witness that the ledger names for its newest checkpoint. One at least must show one.
func (s *source) askWitnesses(ctx context.Context) error {
	if s.opts.Latest == nil {
		return nil
	}
	asked, shown := make(map[string]bool), false
	for _, w := range s.witnesses {
		if asked[w.VKey] || w.URL == "" {
			continue
		}
		asked[w.VKey] = true
		patient, cancel := context.WithTimeout(ctx, witnessPatience)
		b, err := s.opts.Latest(patient, w, s.origin)
		cancel()
		if err != nil {
			s.say("the witness %s shows no checkpoint: %s", w.Name,
				strings.TrimPrefix(err.Error(), "asking a witness for its checkpoint: "))
			continue
		}
		shown = true
		if c, err := audit.OpenByAny(b, s.keys...); err == nil {
			s.seen = append(s.seen, seen{"the witness " + w.Name, c})
		} else { // by a key that this database may have been set back behind
			s.add(CodeRollback, "the witness "+w.Name, "it shows a checkpoint that no known key of the ledger signed")
		}
	}
	if shown {
		return nil
	}
	return errors.New("no witness of the ledger shows a checkpoint: reach one, or bring --since instead of --witnesses")
}

const allSizes = math.MaxInt64
