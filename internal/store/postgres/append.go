package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"shuffled/internal/ledger"
	"shuffled/internal/store"
)

// Create implements [ledger.Store].
func (s *Store) Create(ctx context.Context, info ledger.Info, first ledger.Batch) error {
	if err := store.CheckBatch(0, first); err != nil {
		return err
	}
	args := append(entryArgs(ledger.IDOf(info.Origin), 0, first), info.Name)
	others, err := otherArgs(first)
	if err != nil {
		return err
	}
	args = append(append(args, others...), info.Origin)
	made, err := s.write(ctx, sqlCreate, args)
	if err == nil && !made {
		err = ledger.ErrExists
	}
	return err
}

// Append implements [ledger.Store].
func (s *Store) Append(ctx context.Context, id ledger.ID, old ledger.Head, b ledger.Batch) error {
	if err := store.CheckBatch(old.Size, b); err != nil {
		return err
	}
	sql, args := sqlAppend, append(entryArgs(id, old.Size, b), old.Root[:])
	if slots, _ := store.Slots(b); len(b.Tiles)+len(slots)+len(b.Decks) > 0 {
		others, err := otherArgs(b)
		if err != nil {
			return err
		}
		sql, args = sqlAppendAll, append(args, others...)
	}
	moved, err := s.write(ctx, sql, args)
	switch {
	case isCode(err, codeUnique):
		return s.conflict(ctx, id, old, b, err)
	case err == nil && !moved:
		return ledger.ErrStale
	}
	return err
}

// entryArgs returns the parameters of the head and of sqlNewEntries.
func entryArgs(id ledger.ID, old uint64, b ledger.Batch) []any {
	n := len(b.Rows)
	times, serials, shuffles := make([]int64, n), make([]int64, n), make([]int64, n)
	types, tables, games := make([]int16, n), make([]string, n), make([]string, n)
	tags, entries, kept := make([][]byte, n), make([][]byte, n), make([][]byte, n)
	for i := range b.Rows {
		r := &b.Rows[i]
		times[i], serials[i], shuffles[i] = r.Time, int64(r.Serial), int64(r.Shuffle)
		types[i], tables[i], games[i] = int16(r.Type), r.Table, r.GameRef
		entries[i], kept[i] = r.Entry, r.Kept
		if r.Serial != 0 { // a commit
			tags[i] = r.KeyTag[:]
		}
	}
	return []any{int64(id), int64(old), int64(b.Head.Size), b.Head.Root[:], b.Head.Checkpoint,
		times, serials, shuffles, types, tables, tags, entries, kept, games}
}

// otherArgs returns the parameters of sqlNewOthers: tiles, slots with the indexes of
// their commits, and decks.
func otherArgs(b ledger.Batch) ([]any, error) {
	n := len(b.Tiles)
	levels, indexes, data := make([]int16, n), make([]int64, n), make([][]byte, n)
	for i, t := range b.Tiles {
		levels[i], indexes[i], data[i] = int16(t.Level), int64(t.Index), t.Data
	}
	slots, commits := store.Slots(b)
	hashes, lists, err := store.Decks(b)
	return []any{levels, indexes, data, slots, commits, hashes, lists}, err
}

// earlier is a statement that runs ahead of another in its transaction.
type earlier struct {
	sql  string
	args []any
}

// A write that the server rolled back for the sake of others is sent again.
const (
	writeTries = 5
	retryPause = time.Millisecond // before it is sent again, twice as long each time
)

// write runs a statement that counts what it writes, a whole transaction with those
// ahead of it, and reports whether that is one. Its error is that of outcome, or
// nothing was sent.
func (s *Store) write(ctx context.Context, sql string, args []any, ahead ...earlier) (done bool, err error) {
	waiting, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	conn, err := s.appends.Acquire(waiting)
	if err != nil {
		return false, fmt.Errorf("waiting for a connection: %w", clean(err))
	}
	defer conn.Release()
	sent, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.timeout)
	defer cancel()
	var heads int
	watched := s.watch(conn)
	for tries := 1; ; tries++ {
		if err = count(sent, conn.Conn(), sql, args, ahead, &heads); !rolledBack(err) || tries == writeTries {
			break
		}
		select {
		case <-time.After(retryPause << tries):
		case <-sent.Done():
		}
	}
	if err := watched.ended(err); err != nil {
		return false, outcome(err)
	}
	if err := replicated(conn.Conn().PgConn()); err != nil {
		return false, fmt.Errorf("%w: %w", ledger.ErrUnknownOutcome, err)
	}
	return heads == 1, nil
}

// count scans the row of a statement, which runs behind those ahead of it in one
// transaction and one round trip.
func count(ctx context.Context, conn *pgx.Conn, sql string, args []any, ahead []earlier, n *int) error {
	if len(ahead) == 0 {
		return conn.QueryRow(ctx, sql, args...).Scan(n)
	}
	var all pgx.Batch
	for _, one := range ahead {
		all.Queue(one.sql, one.args...)
	}
	all.Queue(sql, args...).QueryRow(func(row pgx.Row) error { return row.Scan(n) })
	return conn.SendBatch(ctx, &all).Close()
}

// conflict explains an append that a unique index refused: key tags or slots that
// are in the ledger, or, since the head was the expected one, rows that contradict
// it.
func (s *Store) conflict(ctx context.Context, id ledger.ID, old ledger.Head, b ledger.Batch, refused error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.timeout)
	defer cancel()
	var pg *pgconn.PgError
	if errors.As(refused, &pg) && (strings.HasPrefix(pg.ConstraintName, "entries_key_tag") ||
		strings.HasPrefix(pg.ConstraintName, "slots_")) {
		stored, err := s.duplicates(ctx, id, b)
		switch {
		case err != nil:
			return fmt.Errorf("looking for the idempotency keys and slots of a refused batch: %w", err)
		case len(stored.Tags)+len(stored.Slots) > 0:
			return stored
		}
		return fmt.Errorf("the batch repeats an idempotency key or slot of its own: %w", refused)
	}
	head, err := s.Head(ctx, id)
	if err == nil && (head.Size != old.Size || head.Root != old.Root) {
		return ledger.ErrStale
	}
	if err == nil && pg != nil {
		return fmt.Errorf("the batch contradicts rows that are stored: one stands where entry %d or what belongs to it goes (%s): "+
			"see docs/OPERATIONS.md, A row in the way: %w", old.Size, pg.ConstraintName, refused)
	}
	return fmt.Errorf("the batch contradicts rows that are stored: %w", refused)
}

// Head implements [ledger.Store].
func (s *Store) Head(ctx context.Context, id ledger.ID) (ledger.Head, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	conn, err := s.appends.Acquire(ctx)
	if err != nil {
		return ledger.Head{}, fmt.Errorf("waiting for a connection: %w", clean(err))
	}
	defer conn.Release()
	watched := s.watch(conn)
	h, err := store.ScanHead(conn.QueryRow(ctx, sqlHead, int64(id)))
	if err = watched.ended(err); err != nil {
		return ledger.Head{}, notFound(err)
	}
	if err := replicated(conn.Conn().PgConn()); err != nil {
		return ledger.Head{}, err
	}
	return h, nil
}
