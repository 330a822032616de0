package fsck

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/audit/trust"
	"shuffled/internal/inspect"
	"shuffled/internal/ledger"
	"shuffled/internal/shuffle"
	"shuffled/internal/store"
)

// source is the stored rows of one ledger, as an inspect.Source. begin fills the fields
// above mu, before inspect starts its workers. They do not change while these run.
type source struct {
	rows      *store.Evidence
	opts      Options
	id        ledger.ID
	origin    string
	catalogue []store.Raw
	keys      []note.Verifier // those that may have signed a checkpoint
	history   trust.History   // of the keys that entries bring
	witnesses []trust.Witness // those that its policies name
	seen      []seen          // checkpoints that are kept elsewhere
	newest    inspect.Checkpoint
	size      uint64 // that newest has

	mu     sync.Mutex // guards what follows
	counts Counts
	faults []inspect.Fault
	said   []string          // notes on what it could not be compared with
	once   map[string]bool   // faults by code and place
	asked  map[[32]byte]bool // decks and documents of terms that commits name
	lines  map[uint64]int    // by size: lines of checkpoints with more than signing explains; nil: not counted

	accessHeads map[uint64]ledger.AccessHead // by index of the entry that has it
}

// add keeps a fault until Finish.
func (s *source) add(code, where, format string, args ...any) {
	s.keep(fault(code, where, format, args...))
}

// keep keeps faults until Finish, each once.
func (s *source) keep(faults ...inspect.Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range faults {
		if key := f.Code + " " + f.Where; !s.once[key] && len(s.faults) < inspect.MaxFaults {
			s.once[key] = true
			s.faults = append(s.faults, f)
		}
	}
}

// say keeps a note on what could not be compared.
func (s *source) say(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said = append(s.said, fmt.Sprintf(format, args...))
}

// count adds one to a number of s.counts.
func (s *source) count(n *uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*n++
}

// Newest implements inspect.Source.
func (s *source) Newest(context.Context) (inspect.Checkpoint, error) {
	if s.newest.Signed == nil {
		return s.newest, damage(CodeHead, place(store.HeadRows, "checkpoint", s.headKey()),
			"neither the head nor any checkpoint is signed with a key of this ledger")
	}
	return s.newest, nil
}

// Tile implements inspect.Source. Only full tiles are stored.
func (s *source) Tile(ctx context.Context, level int, index uint64, width int) ([]byte, string, error) {
	where := place(store.TileRows, "data", tileKey(level, index))
	if width < inspect.Width {
		return nil, where, nil
	}
	rows, err := s.rows.Tile(ctx, s.id, level, index)
	if err == nil {
		err = s.one(rows, place(store.TileRows, "", tileKey(level, index)), "tile", "the tile is missing")
	}
	if err != nil {
		return nil, where, err
	}
	for _, column := range []string{"level", "idx"} {
		s.integer(rows[0], column)
	}
	data, ok := rows[0].Bytes("data")
	if !ok || len(data) != inspect.Width*tlog.HashSize {
		return nil, where, damage(CodeColumn, where, "it is %s, and a tile has %d bytes",
			kind(rows[0].Value("data")), inspect.Width*tlog.HashSize)
	}
	return data, where, nil
}

// Deck implements inspect.Source.
func (s *source) Deck(ctx context.Context, hash [32]byte) (shuffle.Deck, error) {
	deck, _, err := named(ctx, s, store.DeckRows, "cards", hash, deckOf)
	return deck, err
}

// Terms implements inspect.Source.
func (s *source) Terms(ctx context.Context, hash [32]byte) ([]byte, string, error) {
	return named(ctx, s, store.TermsRows, "bytes", hash, documentOf)
}

// named reads the row of a deck or a document of terms that a commit names.
func named[T any](ctx context.Context, s *source, t *store.Relation, column string, hash [32]byte,
	read func(store.Raw) (T, error)) (v T, where string, err error) {
	key := "hash=" + show(hash[:])
	s.mu.Lock()
	s.asked[hash] = true
	s.mu.Unlock()
	rows, err := s.rows.Named(ctx, t, s.id, hash)
	if err == nil {
		err = s.one(rows, place(t, "", key), "hash", "a commit names this hash, and no row has it")
	}
	if err == nil {
		v, err = read(rows[0])
	}
	return v, place(t, column, key), err
}

// deckOf reads the row of a deck, and compares it with its hash. Its error is an *inspect.Damage.
func deckOf(r store.Raw) (deck shuffle.Deck, err error) {
	b, ok := r.Bytes("cards")
	if !ok {
		return deck, damage(CodeColumn, placeOf(r, "cards"), "it is %s, not bytes", kind(r.Value("cards")))
	}
	cards, err := store.DecodeDeck(b)
	if err != nil {
		return deck, damage(CodeColumn, placeOf(r, "cards"), "%v", err)
	}
	deck, err = shuffle.NewDeck(cards)
	if hash := deck.Hash(); err == nil && !same(r, "hash", hash[:]) {
		err = errors.New("the list of cards has another hash")
	}
	if err != nil {
		return deck, damage(inspect.CodeDeck, placeOf(r, "cards"), "%v", err)
	}
	return deck, nil
}

// documentOf reads the row of a document of terms, as deckOf does that of a deck.
func documentOf(r store.Raw) ([]byte, error) {
	b, ok := r.Bytes("bytes")
	if !ok {
		return nil, damage(CodeColumn, placeOf(r, "bytes"), "it is %s, not bytes", kind(r.Value("bytes")))
	}
	n, ok := r.Int("kind")
	if !ok || n < 1 || n > 2 {
		return nil, damage(CodeColumn, placeOf(r, "kind"), "it is no kind of terms")
	}
	if other := audit.TermsHash(audit.TermsWheel+audit.TermsPayTable-audit.TermsKind(n), b); same(r, "hash", other[:]) {
		return nil, damage(CodeColumn, placeOf(r, "kind"), "it is %d, and the hash is of the other kind", n)
	}
	if hash := audit.TermsHash(audit.TermsKind(n), b); !same(r, "hash", hash[:]) {
		return nil, damage(inspect.CodeTerms, placeOf(r, "bytes"), "the document has another hash")
	}
	return b, nil
}

// one returns an error if there is no row, and names a fault if there are several.
func (s *source) one(rows []store.Raw, where, what, none string) error {
	if len(rows) == 0 {
		return damage(CodeRowMissing, where, "%s", none)
	}
	if len(rows) > 1 {
		s.add(CodeRowTwice, where, "the %s is in %d rows", what, len(rows))
	}
	return nil
}

// integer reads a column that is part of a key. It names a value that is no integer: in SQLite it may compare as one.
func (s *source) integer(r store.Raw, column string) (n int64, ok bool) {
	if n, ok = r.Int(column); !ok {
		s.add(CodeColumn, placeOf(r, column), "it is %s, not an integer", kind(r.Value(column)))
	}
	return n, ok
}

// damage is a fault as the error of a source.
func damage(code, where, format string, args ...any) error {
	return &inspect.Damage{Fault: fault(code, where, format, args...)}
}
