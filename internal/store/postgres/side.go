package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"

	"shuffled/internal/ledger"
	"shuffled/internal/store"
)

// refused names why a row was not added: ledger.ErrExists if its key is taken,
// ledger.ErrNotFound if it is of no ledger.
func refused(err error) error {
	switch {
	case isCode(err, codeForeignKey):
		return ledger.ErrNotFound
	case isCode(err, codeUnique):
		return ledger.ErrExists
	}
	return err
}

// PutCosigned implements [ledger.Cosigned]. What is there already is read behind
// the barrier before it is acknowledged.
func (s *Store) PutCosigned(ctx context.Context, id ledger.ID, h ledger.Head) error {
	size := store.Number(h.Size)
	added, err := s.write(ctx, sqlPutCosigned, []any{int64(id), size, h.Root[:], h.Checkpoint})
	if err != nil || added {
		return refused(err)
	}
	if _, err = store.One(ctx, s.query, store.Only[int64], sqlHasCosigned, int64(id), size); err != nil {
		return err
	}
	return ledger.ErrExists
}

// PutLate implements [ledger.Cosigned].
func (s *Store) PutLate(ctx context.Context, id ledger.ID, h ledger.Head) error {
	added, err := s.write(ctx, sqlPutLate, []any{int64(id), store.Number(h.Size), h.Root[:], h.Checkpoint})
	if err == nil && !added {
		return ledger.ErrExists
	}
	return refused(err)
}

// PutHandover implements [ledger.Cosigned].
func (s *Store) PutHandover(ctx context.Context, id ledger.ID, h ledger.Head, from uint64) error {
	args := []any{int64(id), store.Number(h.Size), h.Root[:], h.Checkpoint, store.Number(from)}
	added, err := s.write(ctx, sqlPutHandover, args, earlier{sqlHandovers, args[:1]})
	if err = refused(err); err == nil && !added || errors.Is(err, ledger.ErrExists) {
		return ledger.ErrStale // a PutCosigned that was not committed yet may have been first
	}
	return err
}

// CosignedAtMost implements [ledger.Cosigned].
func (s *Store) CosignedAtMost(ctx context.Context, id ledger.ID, size uint64) (ledger.Head, error) {
	return store.One(ctx, s.query, store.ScanHead, sqlCosignedAtMost, int64(id), store.Number(size))
}

// PutTerms implements [ledger.TermsKeeper]. What is there already is read behind the
// barrier before it is acknowledged.
func (s *Store) PutTerms(ctx context.Context, id ledger.ID, t ledger.Terms) error {
	added, err := s.write(ctx, sqlPutTerms, []any{int64(id), t.Hash[:], int16(t.Kind), t.Bytes})
	if err != nil || added {
		return refused(err)
	}
	_, err = store.One(ctx, s.query, store.Only[int16], sqlHasTerms, int64(id), t.Hash[:])
	return err
}

// PutStatement implements [ledger.Statements].
func (s *Store) PutStatement(ctx context.Context, id ledger.ID, shuffle uint64, n int, note []byte) error {
	_, err := s.exec(ctx, store.SQLNewStatement, int64(id), store.Number(shuffle), int16(n), note)
	return refused(err)
}

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
		if isCode(err, codeUnique) && errors.As(err, &pg) && pg.ConstraintName == "access_records_seq" {
			continue // another daemon was the next; ctx ends this
		}
		return refused(err)
	}
}

// DropAccess implements [ledger.AccessStore].
func (s *Store) DropAccess(ctx context.Context, id ledger.ID, before int64, limit int) (int, error) {
	n, err := s.exec(ctx, sqlDropAccess, int64(id), before, limit)
	return int(n), err
}
