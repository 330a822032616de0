package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"shuffled/internal/ledger"
	"shuffled/internal/store"
)

// duplicates returns what of b is in the ledger. The sequencer waits for it, so it
// has a connection that readers cannot take.
func (s *Store) duplicates(ctx context.Context, id ledger.ID, b ledger.Batch) (_ *ledger.DuplicateError, err error) {
	conn, err := s.appends.Acquire(ctx)
	if err != nil {
		return nil, fmt.Errorf("waiting for a connection: %w", clean(err))
	}
	defer conn.Release()
	var stored ledger.DuplicateError
	if stored.Tags, err = storedHashes(ctx, conn, sqlKeyTags, id, store.KeyTags(b)); err != nil {
		return nil, err
	}
	slots, _ := store.Slots(b)
	if stored.Slots, err = storedHashes(ctx, conn, sqlSlots, id, slots); err != nil {
		return nil, err
	}
	return &stored, nil
}

// TakenSlots implements [ledger.Finder].
func (s *Store) TakenSlots(ctx context.Context, id ledger.ID, slots ...[32]byte) ([][32]byte, error) {
	conn, ctx, release, err := s.reader(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	return storedHashes(ctx, conn, sqlSlots, id, store.Hashes(slots))
}

// storedHashes returns those hashes that the statement finds, in their order.
func storedHashes(ctx context.Context, conn *pgxpool.Conn, sql string, id ledger.ID, hashes [][]byte) (
	found [][32]byte, err error) {
	if len(hashes) == 0 {
		return nil, nil
	}
	has := make(map[[32]byte]bool)
	rows, err := conn.Query(ctx, sql, int64(id), hashes)
	if err != nil {
		return nil, clean(err)
	}
	err = scanAll(conn, rows, func(row scanner) error {
		var hash []byte
		if err := row.Scan(&hash); err != nil {
			return err
		}
		if len(hash) != 32 {
			return errors.New("a stored hash has not 32 bytes")
		}
		has[[32]byte(hash)] = true
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, hash := range hashes {
		if has[[32]byte(hash)] {
			found = append(found, [32]byte(hash))
		}
	}
	return found, nil
}

// ByKeyTags implements [ledger.Finder].
func (s *Store) ByKeyTags(ctx context.Context, id ledger.ID, tags ...[32]byte) ([]ledger.Row, error) {
	return store.All(ctx, s.query, store.ScanRow, sqlByKeyTags, int64(id), store.Hashes(tags))
}
