package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"

	"shuffled/internal/ledger"
	"shuffled/internal/store"
)

// PutAccess implements [ledger.AccessStore].
func (s *Store) PutAccess(ctx context.Context, id ledger.ID, a ledger.Access) error {
	// One at a time in this process: only one record can be the next.
	select {
	case s.access <- struct{}{}:
		defer func() { <-s.access }()
	case <-ctx.Done():
		return ctx.Err()
	}
	for {
		head, err := s.AccessHead(ctx, id)
		if err != nil {
			return err
		}
		_, err = s.exec(ctx, store.SQLNewAccess, store.NewAccessArgs(id, a, head)...)
		var pg *pgconn.PgError
		switch {
		case isCode(err, codeUnique) && errors.As(err, &pg) && pg.ConstraintName == "access_records_seq":
			continue // another daemon was the next; ctx ends this
		case isCode(err, codeUnique):
			return ledger.ErrExists
		case isCode(err, codeForeignKey):
			return ledger.ErrNotFound
		}
		return err
	}
}

// DropAccess implements [ledger.AccessStore].
func (s *Store) DropAccess(ctx context.Context, id ledger.ID, before int64, limit int) (int, error) {
	n, err := s.exec(ctx, sqlDropAccess, int64(id), before, limit)
	return int(n), err
}
