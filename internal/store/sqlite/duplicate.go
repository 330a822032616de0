package sqlite

import (
	"context"
	"errors"

	"shuffled/internal/ledger"
	"shuffled/internal/store"
)

// TakenSlots implements [ledger.Finder].
func (s *Store) TakenSlots(ctx context.Context, id ledger.ID, slots ...[32]byte) ([][32]byte, error) {
	return s.stored(ctx, sqlHasSlot, id, store.Hashes(slots))
}

// stored returns those hashes that the statement finds, in their order.
func (s *Store) stored(ctx context.Context, text string, id ledger.ID, hashes [][]byte) (found [][32]byte, err error) {
	for _, hash := range hashes {
		_, err := store.One(ctx, s.query, store.Only[int64], text, int64(id), hash)
		switch {
		case err == nil:
			found = append(found, [32]byte(hash))
		case !errors.Is(err, ledger.ErrNotFound):
			return nil, err
		}
	}
	return found, nil
}

// ByKeyTags implements [ledger.Finder].
func (s *Store) ByKeyTags(ctx context.Context, id ledger.ID, tags ...[32]byte) (list []ledger.Row, err error) {
	if err := s.sound(); err != nil {
		return nil, err
	}
	for _, tag := range tags {
		found, err := store.All(ctx, s.query, store.ScanRow, sqlByKeyTag, int64(id), tag[:])
		if err != nil {
			return nil, err
		}
		list = append(list, found...)
	}
	return list, nil
}
