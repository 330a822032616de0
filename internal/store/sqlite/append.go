package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	sqlite3 "modernc.org/sqlite/lib"

	"shuffled/internal/ledger"
	"shuffled/internal/store"
)

// What an append runs. sqlMoveHead moves the head of a ledger from one size and root to another.
const (
	sqlTaken     = `SELECT count(*) FROM ledgers WHERE ledger = ? OR name = ? OR origin = ?`
	sqlNewLedger = `INSERT INTO ledgers (ledger, name, origin) VALUES (?, ?, ?)`
	sqlNewHead   = `INSERT INTO heads (ledger, size, root, checkpoint) VALUES (?, ?, ?, ?)`

	sqlHead     = `SELECT size, root, checkpoint FROM heads WHERE ledger = ?`
	sqlMoveHead = `UPDATE heads SET size = ?, root = ?, checkpoint = ? WHERE ledger = ? AND size = ? AND root = ?`

	sqlNewEntry = `INSERT INTO entries (ledger, idx, time, serial, shuffle, type, tbl, key_tag, entry, kept, game_ref)
VALUES (?, ?, ?, nullif(?, 0), nullif(?, 0), ?, nullif(?, ''), ?, ?, ?, nullif(?, ''))`
	sqlNewSlot       = `INSERT INTO slots (ledger, slot, idx) VALUES (?, ?, ?)`
	sqlNewTile       = `INSERT INTO tiles (ledger, level, idx, data) VALUES (?, ?, ?, ?)`
	sqlNewCheckpoint = `INSERT INTO checkpoints (ledger, size, root, checkpoint) VALUES (?, ?, ?, ?)`

	sqlNewDeck = `INSERT INTO decks (ledger, hash, cards) SELECT ?1, ?2, ?3
WHERE NOT EXISTS (SELECT 1 FROM decks WHERE ledger = ?1 AND hash = ?2)`
)

var sqlAppends = []string{sqlTaken, sqlNewLedger, sqlNewHead, sqlHead, sqlMoveHead, sqlNewEntry, sqlNewSlot,
	sqlNewTile, sqlNewCheckpoint, sqlNewDeck}

// Create implements [ledger.Store].
func (s *Store) Create(ctx context.Context, info ledger.Info, first ledger.Batch) error {
	if err := store.CheckBatch(0, first); err != nil {
		return err
	}
	id := ledger.IDOf(info.Origin)
	return s.transact(ctx, func(w *writer) error {
		var taken int
		if err := w.stmts[sqlTaken].QueryRow(int64(id), info.Name, info.Origin).Scan(&taken); err != nil {
			return err
		}
		if taken > 0 {
			return ledger.ErrExists
		}
		if _, err := w.exec(sqlNewLedger, int64(id), info.Name, info.Origin); err != nil {
			return err
		}
		h := first.Head
		if _, err := w.exec(sqlNewHead, int64(id), int64(h.Size), h.Root[:], h.Checkpoint); err != nil {
			return err
		}
		return w.insert(id, first)
	})
}

// append is a store.Send. In the transaction, what is refused refuses all.
func (s *Store) append(all []*store.Appending) (moved []ledger.ID, err error) {
	err = s.transact(context.Background(), func(w *writer) error {
		for _, a := range all {
			h := a.Batch.Head
			n, err := w.exec(sqlMoveHead, int64(h.Size), h.Root[:], h.Checkpoint,
				int64(a.ID), int64(a.Old.Size), a.Old.Root[:])
			if err == nil && n > 0 {
				moved, err = append(moved, a.ID), w.insert(a.ID, a.Batch)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if len(all) > 1 || codeOf(err) != sqlite3.SQLITE_CONSTRAINT || errors.Is(err, ledger.ErrUnknownOutcome) {
		return moved, err
	}
	// The head was the expected one: key tags or slots are in the ledger, or rows contradict it.
	if duplicate := store.Duplicate(context.Background(), s.query, all[0].ID, all[0].Batch); duplicate != nil {
		return nil, duplicate
	}
	return nil, fmt.Errorf("the batch contradicts rows that are stored, or itself: %w", err)
}

// insert adds the evidence of a batch whose head is in place. A prepared statement for each row is as fast as one
// statement for several rows.
func (w *writer) insert(id ledger.ID, b ledger.Batch) error {
	for i := range b.Rows {
		r := &b.Rows[i]
		var tag []byte
		if r.Serial != 0 { // a commit
			tag = r.KeyTag[:]
		}
		if _, err := w.exec(sqlNewEntry, int64(id), int64(r.Index), r.Time, int64(r.Serial), int64(r.Shuffle),
			int64(r.Type), r.Table, tag, r.Entry, r.Kept, r.GameRef); err != nil {
			return fmt.Errorf("writing entry %d: %w", r.Index, err)
		}
	}
	for _, t := range b.Tiles {
		if _, err := w.exec(sqlNewTile, int64(id), int64(t.Level), int64(t.Index), t.Data); err != nil {
			return fmt.Errorf("writing tile %d/%d: %w", t.Level, t.Index, err)
		}
	}
	slots, commits := store.Slots(b)
	for i, slot := range slots {
		if _, err := w.exec(sqlNewSlot, int64(id), slot, commits[i]); err != nil {
			return fmt.Errorf("writing a slot of entry %d: %w", commits[i], err)
		}
	}
	for _, d := range b.Decks {
		if _, err := w.exec(sqlNewDeck, int64(id), d.Hash[:], d.List); err != nil {
			return fmt.Errorf("writing a deck: %w", err)
		}
	}
	h := b.Head
	if _, err := w.exec(sqlNewCheckpoint, int64(id), int64(h.Size), h.Root[:], h.Checkpoint); err != nil {
		return fmt.Errorf("writing the checkpoint: %w", err)
	}
	return nil
}

// Head implements [ledger.Store]. It takes the write lock, and so waits for an append that is under way in this process
// or another one.
func (s *Store) Head(ctx context.Context, id ledger.ID) (h ledger.Head, err error) {
	err = s.transact(ctx, func(w *writer) error {
		h, err = store.ScanHead(w.stmts[sqlHead].QueryRow(int64(id)))
		if errors.Is(err, sql.ErrNoRows) {
			err = ledger.ErrNotFound
		}
		return err
	})
	return h, err
}
