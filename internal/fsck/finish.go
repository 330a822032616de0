package fsck

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"shuffled/internal/audit"
	"shuffled/internal/audit/openings"
	"shuffled/internal/audit/trust"
	"shuffled/internal/inspect"
	"shuffled/internal/ledger"
	"shuffled/internal/store"
)

// Finish implements inspect.Source. It checks all rows that the entries did not lead to.
func (s *source) Finish(ctx context.Context, sum inspect.Summary) ([]inspect.Fault, []string, error) {
	for _, step := range []func(context.Context) error{s.compareHead, s.compareSeen, s.names, s.namedRows,
		s.countRows, s.accesses, s.odd} {
		if err := step(ctx); err != nil {
			return nil, nil, err
		}
	}
	for size, n := range s.lines {
		if n > lines(sum.Keys, size) {
			s.add(CodeSignatures, place(store.CheckpointRows, "checkpoint", sizeKey(size)),
				"it has more signature lines than it was made with")
		}
	}
	if err := s.cosignatures(ctx, sum); err != nil {
		return nil, nil, err
	}
	if c := s.counts; s.opts.Keys != nil && c.Tapes > 0 && c.TapesOpened == 0 {
		s.add(CodeSealedTape, "entries.kept", "none of the %d sealed tapes opens with the sealing keys that were given", c.Tapes)
	}
	return s.faults, s.notes(), nil
}

// notes says what was not checked, and what is not used.
func (s *source) notes() (notes []string) {
	note := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	c := s.counts
	if n := c.Tapes - c.TapesOpened; n > 0 {
		note("sealed tapes that were not opened, for lack of their sealing key: %d", n)
	}
	if c.UnusedDecks > 0 {
		note("decks that no commit names: %d", c.UnusedDecks)
	}
	if c.Later > 0 {
		note("entries that were appended during this check and are for the next check: %d", c.Later)
	}
	slices.Sort(s.said) // several workers say them
	return append(notes, s.said...)
}

// names checks the catalogue: all columns of this ledger, and of others that the number follows from the origin.
func (s *source) names(ctx context.Context) error {
	own := 0
	names, ids := make(map[string]bool), make(map[int64]bool)
	for _, r := range s.catalogue {
		id, numbered := r.Int("ledger")
		name, named := r.Text("name")
		origin, placed := r.Text("origin")
		if !numbered {
			s.add(CodeColumn, place(store.LedgerRows, "ledger", "name="+show(r.Value("name"))),
				"it is %s, not an integer", kind(r.Value("ledger")))
			continue
		}
		if !named {
			s.add(CodeColumn, placeOf(r, "name"), "it is %s, not text", kind(r.Value("name")))
		}
		if ids[id] || named && names[name] {
			s.add(CodeRowTwice, placeOf(r, ""), "the ledger, or its name, is in more than one row")
		}
		ids[id], names[name] = true, named
		switch {
		case ledger.ID(id) == s.id:
			own++
			if named && name != s.opts.Ledger {
				s.add(CodeColumn, placeOf(r, "name"), "it is %s, and the ledger is %q", show(name), s.opts.Ledger)
			}
			if origin != s.origin {
				s.add(CodeColumn, placeOf(r, "origin"), "it is %s, and the ledger's is %q", show(r.Value("origin")),
					s.origin)
			}
		case placed && origin == s.origin:
			s.add(CodeColumn, placeOf(r, "ledger"), "it is %d, and the ledger of this origin is %d", id, int64(s.id))
		case !placed || ledger.IDOf(origin) != ledger.ID(id):
			s.add(CodeColumn, placeOf(r, "origin"), "it is %s, of which another ledger is made",
				show(r.Value("origin")))
		default:
			heads, err := s.rows.Heads(ctx, ledger.ID(id))
			if err != nil {
				return err
			}
			if len(heads) == 0 {
				s.add(CodeRowExtra, placeOf(r, ""), "the ledger has no head")
			}
		}
	}
	if own == 0 {
		s.add(CodeRowMissing, place(store.LedgerRows, "", s.headKey()), "the ledger %s is not in the catalogue",
			s.origin)
	}
	return nil
}

// namedRows checks every deck and every document of terms against its hash, and counts the decks that no commit names.
func (s *source) namedRows(ctx context.Context) error {
	return errors.Join(eachNamed(ctx, s, store.DeckRows, &s.counts.Decks, deckOf),
		eachNamed(ctx, s, store.TermsRows, &s.counts.Terms, documentOf))
}

func eachNamed[T any](ctx context.Context, s *source, t *store.Relation, n *uint64,
	read func(store.Raw) (T, error)) error {
	return s.rows.EachNamed(ctx, t, s.id, func(r store.Raw) error {
		*n++
		hash, ok := r.Bytes("hash")
		if !ok || len(hash) != 32 {
			s.add(CodeColumn, placeOf(r, "hash"), "it is %s, and a hash has 32 bytes", kind(r.Value("hash")))
			return nil
		}
		if t == store.DeckRows && !s.asked[[32]byte(hash)] {
			s.counts.UnusedDecks++
		}
		_, err := read(r)
		if d, ok := errors.AsType[*inspect.Damage](err); ok {
			s.keep(d.Fault)
		}
		return nil
	})
}

// odd names the rows that belong to nothing. Rows above the head may be of batches that came
// since: a head that is read after them decides.
func (s *source) odd(ctx context.Context) error {
	var rows []store.Raw
	for _, t := range store.Relations()[1:] { // names checks the catalogue
		some, err := s.rows.Odd(ctx, t, s.id, s.size)
		if err != nil {
			return err
		}
		rows = append(rows, some...)
	}
	size, err := s.later(ctx)
	if err != nil {
		return err
	}
	s.counts.Later = size - s.size
	for _, r := range rows {
		s.judgeOdd(r, size)
	}
	return nil
}

func (s *source) judgeOdd(r store.Raw, size uint64) {
	id, numbered := r.Int("ledger")
	if !numbered || ledger.ID(id) != s.id {
		s.add(CodeRowExtra, place(r.Relation, "ledger", "ledger="+show(r.Value("ledger"))+","+keyOf(r)),
			"the row is of no ledger of the catalogue")
		return
	}
	key := r.Relation.Columns[1 : 1+r.Relation.Keys]
	if r.Relation == store.SlotRows {
		key = key[:1] // the other part of the key is a hash
	}
	for _, c := range key {
		if _, ok := r.Int(c); !ok {
			s.add(CodeColumn, placeOf(r, c), "it is %s, and no row of the ledger", kind(r.Value(c)))
			return
		}
	}
	n, _ := r.Int(key[len(key)-1])
	used := n >= 0
	switch r.Relation {
	case store.EntryRows, store.SlotRows:
		used = used && uint64(n) < size
	case store.CheckpointRows, store.CosignedRows, store.LateRows:
		used = n > 0 && uint64(n) <= size
	case store.StatementRows:
		shuffle, _ := r.Int("shuffle")
		used = used && n < openings.MaxStatements && shuffle > 0 && uint64(shuffle) < size
	case store.TileRows:
		level, _ := r.Int("level")
		used = used && level >= 0 && level < 7 && uint64(n) < size>>(8*(level+1))
	}
	if !used {
		s.add(CodeRowExtra, placeOf(r, ""), "a ledger of %d entries has no such row", size)
	}
}

// countRows counts the rows up to the head.
func (s *source) countRows(ctx context.Context) (err error) {
	c := &s.counts
	for relation, n := range map[*store.Relation]*uint64{store.EntryRows: &c.Entries, store.TileRows: &c.Tiles,
		store.CheckpointRows: &c.Checkpoints, store.CosignedRows: &c.Cosigned, store.LateRows: &c.Late,
		store.StatementRows: &c.Statements} {
		if *n, err = s.rows.Count(ctx, relation, s.id, s.size); err != nil {
			return err
		}
	}
	return nil
}

// lines returns how many keys sign the checkpoint of a size: those in force, and if the last
// entry brings a key, the one before it, too.
func lines(keys *trust.History, size uint64) int {
	by := make(map[uint64]bool) // by the index of their entries
	for _, k := range append(keys.At(size), keys.At(size-1)...) {
		by[k.Index] = true
	}
	return len(by)
}

// cosignatures checks that every line of a cosigned or late checkpoint is the ledger's own or a
// valid cosignature of a witness that a policy of the ledger names: the daemon keeps no other.
// A late checkpoint is a cosigned one with other lines.
func (s *source) cosignatures(ctx context.Context, sum inspect.Summary) error {
	policies := policiesOf(sum.Keys)
	late := make(map[audit.Checkpoint]store.Raw)
	for r, err := range s.sizes(ctx, store.LateRows, 0) {
		if err != nil {
			return err
		}
		if b, head, ok := s.checkpoint(r); ok {
			late[head] = r
			s.cosigned(r, b, policies)
		}
	}
	for r, err := range s.sizes(ctx, store.CosignedRows, 0) {
		if err != nil {
			return err
		}
		b, _ := r.Bytes("checkpoint")
		if head, err := audit.CheckpointText(b); err == nil { // another was named before
			delete(late, head)
			s.cosigned(r, b, policies)
		}
	}
	bySize := func(a, b audit.Checkpoint) int { return cmp.Compare(a.Size, b.Size) }
	for _, head := range slices.SortedFunc(maps.Keys(late), bySize) {
		s.add(CodeColumn, placeOf(late[head], "checkpoint"), "no cosigned checkpoint is of this size and root")
	}
	return nil
}

// cosigned checks that the lines of a checkpoint are as many as those of the ledger and of witnesses.
func (s *source) cosigned(r store.Raw, signed []byte, policies []*trust.Policy) {
	known := 0
	for _, k := range s.keys {
		if _, err := audit.OpenCheckpoint(signed, k); err == nil {
			known++
		}
	}
	var by []string // verifier keys: another policy may have another witness of the name
	for _, p := range policies {
		for _, c := range p.Cosignatures(signed) {
			i := slices.IndexFunc(p.Witnesses, func(w trust.Witness) bool { return w.Name == c.Witness })
			if vkey := p.Witnesses[i].VKey; !slices.Contains(by, vkey) {
				by = append(by, vkey)
			}
		}
	}
	if n := signatures(signed); n != known+len(by) || known == 0 {
		s.add(CodeSignatures, placeOf(r, "checkpoint"), "of the %d signature lines %d are of the ledger and %d of its witnesses",
			n, known, len(by))
	}
}

// policiesOf returns the policies that entries brought.
func policiesOf(keys *trust.History) (all []*trust.Policy) {
	for _, k := range keys.Records {
		if p, err := trust.ParsePolicy(k.Policy); err == nil && k.Subject == audit.SubjectPolicy {
			all = append(all, p)
		}
	}
	return all
}
