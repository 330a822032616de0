package fsck

import (
	"context"
	"sync"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"shuffled/internal/audit"
	"shuffled/internal/inspect"
	"shuffled/internal/ledger"
	"shuffled/internal/store"
)

// source is the stored rows of one ledger, as an inspect.Source. begin fills the
// first part, before inspect starts its goroutines; it does not change after.
type source struct {
	rows      *store.Evidence
	opts      Options
	id        ledger.ID
	origin    string
	catalogue []store.Raw
	keys      []note.Verifier // that may have signed
	witnesses []audit.Witness // that its policies name
	seen      []seen          // what others have of it
	said      []string        // notes, on what there was not to hold it against
	newest    inspect.Checkpoint
	head      audit.Checkpoint // newest, parsed
	size      uint64           // head's
	doubtful  bool             // a checkpoint that nobody known signed is looked at as well
	finished  bool             // Finish was called

	mu      sync.Mutex // guards what follows
	counts  Counts
	tallies map[uint64]*tally // by chunk
	tiles   map[string]bool   // that are there
	faults  []inspect.Fault
	once    map[string]bool   // faults by code and place
	asked   map[[32]byte]bool // decks that commits name
	lines   map[uint64]int    // signature lines of checkpoints, by size, where there is not one

	accessHeads map[uint64]ledger.AccessHead // that entries tell, by their index
}

// tally counts the rows of one chunk. It belongs to the goroutine that reads the
// chunk, until Finish. A chunk that is read again is counted anew.
type tally struct{ entries, tapes, opened uint64 }

// total adds the tallies up; it is called when nobody reads any more.
func (s *source) total() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.counts
	c.Tiles = uint64(len(s.tiles))
	for _, t := range s.tallies {
		c.Entries += t.entries
		c.Tapes += t.tapes
		c.TapesOpened += t.opened
	}
	return c
}

// add keeps a fault until Finish, once.
func (s *source) add(f inspect.Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if key := f.Code + " " + f.Where; !s.once[key] && len(s.faults) < inspect.MaxFaults {
		s.once[key] = true
		s.faults = append(s.faults, f)
	}
}

// Newest implements inspect.Source.
func (s *source) Newest(context.Context) (inspect.Checkpoint, error) {
	if s.newest.Signed == nil {
		f := fault(CodeHead, place(store.HeadRows, "checkpoint", s.headKey()),
			"neither the head nor any checkpoint is signed with a key of this ledger")
		return inspect.Checkpoint{}, &inspect.Damage{Fault: f}
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
	if err != nil {
		return nil, where, err
	}
	if len(rows) == 0 {
		f := fault(CodeRowMissing, place(store.TileRows, "", tileKey(level, index)), "the tile is not there")
		return nil, where, &inspect.Damage{Fault: f}
	}
	s.mu.Lock()
	s.tiles[where] = true
	s.mu.Unlock()
	if len(rows) > 1 {
		s.add(fault(CodeRowTwice, place(store.TileRows, "", tileKey(level, index)), "the tile stands in %d rows",
			len(rows)))
	}
	for _, column := range []string{"level", "idx"} {
		s.integer(rows[0], column)
	}
	data, ok := rows[0].Bytes("data")
	if !ok || len(data) != inspect.Width*tlog.HashSize {
		f := fault(CodeColumn, where, "it is %s, and a tile has %d bytes", kindAndSize(rows[0].Value("data")),
			inspect.Width*tlog.HashSize)
		return nil, where, &inspect.Damage{Fault: f}
	}
	return data, where, nil
}

// integer names a key that is no integer but compares as one, as SQLite has it.
func (s *source) integer(r store.Raw, column string) (n int64, ok bool) {
	if n, ok = r.Int(column); !ok {
		s.add(fault(CodeColumn, placeOf(r, column), "it is %s, not an integer", kind(r.Value(column))))
	}
	return n, ok
}

// Deck implements inspect.Source.
func (s *source) Deck(ctx context.Context, hash [32]byte) ([]string, string, error) {
	key := "hash=" + show(hash[:])
	where := place(store.DeckRows, "cards", key)
	s.mu.Lock()
	s.asked[hash] = true
	s.mu.Unlock()
	rows, err := s.rows.Deck(ctx, s.id, hash)
	if err != nil {
		return nil, where, err
	}
	if len(rows) == 0 {
		f := fault(CodeRowMissing, place(store.DeckRows, "", key),
			"a commit names this deck, and its list is not there")
		return nil, where, &inspect.Damage{Fault: f}
	}
	if len(rows) > 1 {
		s.add(fault(CodeRowTwice, place(store.DeckRows, "", key), "the deck stands in %d rows", len(rows)))
	}
	cards, f := decode(rows[0])
	if f != nil {
		return nil, where, &inspect.Damage{Fault: *f}
	}
	return cards, where, nil
}

// decode reads a deck's row.
func decode(r store.Raw) ([]string, *inspect.Fault) {
	b, ok := r.Bytes("cards")
	if !ok {
		f := fault(CodeColumn, placeOf(r, "cards"), "it is %s, not bytes", kind(r.Value("cards")))
		return nil, &f
	}
	cards, err := store.DecodeDeck(b)
	if err != nil {
		f := fault(CodeColumn, placeOf(r, "cards"), "%v", err)
		return nil, &f
	}
	return cards, nil
}
