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

// An append is a CTE named head, which returns the ledger or no row, and INSERTs that insert nothing without that row.
// Every INSERT must select from head: a data-modifying CTE runs whether or not anything reads it.
//
//	$1 ledger, $2 old size, $3 size, $4 root, $5 checkpoint, $6 … $14 the entries' columns
const sqlNewEntries = `
), new_entries AS (
    INSERT INTO entries (ledger, idx, time, serial, shuffle, type, tbl, key_tag, entry, kept, game_ref)
    SELECT head.ledger, $2::bigint + e.nth - 1, e.time, nullif(e.serial, 0), nullif(e.shuffle, 0), e.type,
           nullif(e.tbl, ''), e.key_tag, e.entry, e.kept, nullif(e.game_ref, '')
    FROM head, unnest($6::bigint[], $7::bigint[], $8::bigint[], $9::smallint[], $10::text[], $11::bytea[],
         $12::bytea[], $13::bytea[], $14::text[])
         WITH ORDINALITY AS e (time, serial, shuffle, type, tbl, key_tag, entry, kept, game_ref, nth)`

// sqlNewOthers adds tiles ($16 … $18), slots ($19, $20), and those decks ($21, $22) that are not there.
const sqlNewOthers = `
), new_tiles AS (
    INSERT INTO tiles (ledger, level, idx, data)
    SELECT head.ledger, t.level, t.idx, t.data
    FROM head, unnest($16::smallint[], $17::bigint[], $18::bytea[]) AS t (level, idx, data)
), new_slots AS (
    INSERT INTO slots (ledger, slot, idx)
    SELECT head.ledger, s.slot, s.idx
    FROM head, unnest($19::bytea[], $20::bigint[]) AS s (slot, idx)
), new_decks AS (
    INSERT INTO decks (ledger, hash, cards)
    SELECT head.ledger, d.hash, d.cards
    FROM head, unnest($21::bytea[], $22::bytea[]) AS d (hash, cards)
    ON CONFLICT (ledger, hash) DO NOTHING`

const sqlNewCheckpoint = `
), new_checkpoint AS (
    INSERT INTO checkpoints (ledger, size, root, checkpoint)
    SELECT head.ledger, $3, $4, $5 FROM head
)
SELECT 1 FROM head`

// sqlMoveHead moves the head of $1 from size $2 and root $15.
const sqlMoveHead = `
WITH head AS (
    UPDATE heads SET size = $3, root = $4, checkpoint = $5
    WHERE ledger = $1 AND size = $2 AND root = $15
    RETURNING ledger`

// sqlAppend appends entries; sqlAppendAll tiles, slots and decks as well. If a batch has none of these, sqlAppendAll
// costs a sixth more of the processor time of an append of one entry.
const (
	sqlAppend    = sqlMoveHead + sqlNewEntries + sqlNewCheckpoint
	sqlAppendAll = sqlMoveHead + sqlNewEntries + sqlNewOthers + sqlNewCheckpoint
)

// sqlCreate makes ledger $1 named $15 with origin $23.
const sqlCreate = `
WITH made AS (
    INSERT INTO ledgers (ledger, name, origin) VALUES ($1, $15, $23)
    ON CONFLICT DO NOTHING
    RETURNING ledger
), head AS (
    INSERT INTO heads (ledger, size, root, checkpoint)
    SELECT ledger, $3, $4, $5 FROM made
    RETURNING ledger` + sqlNewEntries + sqlNewOthers + sqlNewCheckpoint

// sqlHead takes the lock of an append (see the package comment).
const sqlHead = `SELECT size, root, checkpoint FROM heads WHERE ledger = $1 FOR NO KEY UPDATE`

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
	if err == nil && made == 0 {
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
	case err == nil && moved == 0:
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

// otherArgs returns the parameters of sqlNewOthers.
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

// earlier is a statement that runs ahead of another one in the same transaction.
type earlier struct {
	sql  string
	args []any
}

// A write that the server rolled back in favour of another transaction is sent again.
const (
	writeTries = 5
	retryPause = time.Millisecond // before it is sent again; twice as long each time
)

// write runs a statement, a whole transaction with those ahead of it, and returns the number of rows that it wrote or,
// of a CTE, returned. Its error is that of outcome, or nothing was sent.
func (s *Store) write(ctx context.Context, sql string, args []any, ahead ...earlier) (n int64, err error) {
	waiting, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	conn, err := s.appends.Acquire(waiting)
	if err != nil {
		return 0, fmt.Errorf("waiting for a connection: %w", clean(err))
	}
	defer conn.Release()
	sent, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.timeout)
	defer cancel()
	watched := s.watch(conn)
	for tries := 1; ; tries++ {
		if n, err = send(sent, conn.Conn(), sql, args, ahead); !rolledBack(err) || tries == writeTries {
			break
		}
		select {
		case <-time.After(retryPause << tries):
		case <-sent.Done():
		}
	}
	if err := watched.ended(err); err != nil {
		return 0, outcome(err)
	}
	if err := replicated(conn.Conn().PgConn()); err != nil {
		return 0, fmt.Errorf("%w: %w", ledger.ErrUnknownOutcome, err)
	}
	return n, nil
}

// send runs a statement behind those ahead of it, in one transaction and one round trip.
func send(ctx context.Context, conn *pgx.Conn, sql string, args []any, ahead []earlier) (n int64, err error) {
	if len(ahead) == 0 {
		tag, err := conn.Exec(ctx, sql, args...)
		return tag.RowsAffected(), err
	}
	var all pgx.Batch
	for _, one := range ahead {
		all.Queue(one.sql, one.args...)
	}
	all.Queue(sql, args...).Exec(func(tag pgconn.CommandTag) error { n = tag.RowsAffected(); return nil })
	return n, conn.SendBatch(ctx, &all).Close()
}

// keep is a store.Exec for evidence. A handover runs behind the lock of an append: without it, it would not see a
// handover that another connection has not committed yet.
func (s *Store) keep(ctx context.Context, sql string, args ...any) (int64, error) {
	var ahead []earlier
	if sql == store.SQLNewHandover {
		ahead = []earlier{{sqlHead, args[:1]}}
	}
	n, err := s.write(ctx, sql, args, ahead...)
	return n, refused(err)
}

// conflict explains an append that a unique index refused: the ledger has key tags or slots of the batch, or the head
// is another one than expected, or it is the expected one and stored rows contradict it.
func (s *Store) conflict(ctx context.Context, id ledger.ID, old ledger.Head, b ledger.Batch, refused error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.timeout)
	defer cancel()
	var pg *pgconn.PgError
	if errors.As(refused, &pg) && (strings.HasPrefix(pg.ConstraintName, "entries_key_tag") ||
		strings.HasPrefix(pg.ConstraintName, "slots_")) {
		if err := store.Duplicate(ctx, s.queryAppends, id, b); err != nil {
			return err
		}
		return fmt.Errorf("the batch repeats an idempotency key or slot of its own: %w", refused)
	}
	head, err := s.Head(ctx, id)
	if err == nil && (head.Size != old.Size || head.Root != old.Root) {
		return ledger.ErrStale
	}
	if err == nil && pg != nil {
		return fmt.Errorf("the batch contradicts rows that are stored: one stands where entry %d or what belongs to it "+
			"goes (%s): see docs/OPERATIONS.md, A row in the way: %w", old.Size, pg.ConstraintName, refused)
	}
	return fmt.Errorf("the batch contradicts rows that are stored: %w", refused)
}

// Head implements [ledger.Store].
func (s *Store) Head(ctx context.Context, id ledger.ID) (ledger.Head, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	return store.One(ctx, s.queryAppends, store.ScanHead, sqlHead, int64(id))
}
