package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"shuffled/internal/ledger"
	"shuffled/internal/store"
)

// An append is a CTE named head, which returns the heads that it moved, and INSERTs that insert nothing of a ledger
// without one. Every INSERT must select from head: a data-modifying CTE runs whether or not anything reads it.
//
//	$1 … $4 columns of the new heads, $5 … $15 of entries
const sqlNewEntries = `
), new_entries AS (
    INSERT INTO entries (ledger, idx, time, serial, shuffle, type, tbl, key_tag, entry, kept, game_ref)
    SELECT e.ledger, e.idx, e.time, nullif(e.serial, 0), nullif(e.shuffle, 0), e.type, nullif(e.tbl, ''), e.key_tag,
           e.entry, e.kept, nullif(e.game_ref, '')
    FROM unnest($5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::smallint[],
         $11::text[], $12::bytea[], $13::bytea[], $14::bytea[], $15::text[])
         AS e (ledger, idx, time, serial, shuffle, type, tbl, key_tag, entry, kept, game_ref) WHERE e` + ofHead

// sqlNewOthers adds tiles ($18 … $21), slots ($22 … $24), and those decks ($25 … $27) that are not there.
const sqlNewOthers = `
), new_tiles AS (
    INSERT INTO tiles (ledger, level, idx, data)
    SELECT * FROM unnest($18::bigint[], $19::smallint[], $20::bigint[], $21::bytea[]) AS t (ledger) WHERE t` + ofHead + `
), new_slots AS (
    INSERT INTO slots (ledger, slot, idx)
    SELECT * FROM unnest($22::bigint[], $23::bytea[], $24::bigint[]) AS s (ledger) WHERE s` + ofHead + `
), new_decks AS (
    INSERT INTO decks (ledger, hash, cards)
    SELECT * FROM unnest($25::bigint[], $26::bytea[], $27::bytea[]) AS d (ledger) WHERE d` + ofHead + `
    ON CONFLICT (ledger, hash) DO NOTHING`

// ofHead is the condition on a row's ledger. It is no join with head, which may copy all rows into a hash table.
const ofHead = `.ledger = ANY (ARRAY(SELECT ledger FROM head))`

const sqlNewCheckpoints = `
), new_checkpoints AS (
    INSERT INTO checkpoints (ledger, size, root, checkpoint)
    SELECT ledger, size, root, checkpoint FROM head
)
SELECT ledger FROM head`

// sqlMoveHeads moves heads from sizes $16 and roots $17. A head alone waits for its lock. Of several, one that is
// locked is left out, so that it holds up none of the others.
const (
	sqlMoveHead = `
WITH head AS (` + sqlMove + sqlMoved
	sqlMoveHeads = `
WITH free AS (
    SELECT ledger FROM heads WHERE ledger = ANY ($1::bigint[]) FOR NO KEY UPDATE SKIP LOCKED
), head AS (` + sqlMove + ` AND h.ledger IN (SELECT ledger FROM free)` + sqlMoved

	sqlMove = `
    UPDATE heads h SET size = n.size, root = n.root, checkpoint = n.checkpoint
    FROM unnest($1::bigint[], $2::bigint[], $3::bytea[], $4::bytea[], $16::bigint[], $17::bytea[])
         AS n (ledger, size, root, checkpoint, old_size, old_root)
    WHERE h.ledger = n.ledger AND h.size = n.old_size AND h.root = n.old_root`
	sqlMoved = `
    RETURNING h.ledger, h.size, h.root, h.checkpoint`
)

// sqlCreate makes a ledger named $16 with origin $17.
const sqlCreate = `
WITH made AS (
    INSERT INTO ledgers (ledger, name, origin) VALUES (($1::bigint[])[1], $16, $17)
    ON CONFLICT DO NOTHING
    RETURNING ledger
), head AS (
    INSERT INTO heads (ledger, size, root, checkpoint)
    SELECT ledger, n.size, n.root, n.checkpoint
    FROM made JOIN unnest($1::bigint[], $2::bigint[], $3::bytea[], $4::bytea[]) AS n (ledger, size, root, checkpoint)
         USING (ledger)
    RETURNING ledger, size, root, checkpoint` + sqlNewEntries + sqlNewOthers + sqlNewCheckpoints

// sqlHead takes the lock of an append (see the package comment).
const sqlHead = `SELECT size, root, checkpoint FROM heads WHERE ledger = $1 FOR NO KEY UPDATE`

// Create implements [ledger.Store].
func (s *Store) Create(ctx context.Context, info ledger.Info, first ledger.Batch) error {
	if err := store.CheckBatch(0, first); err != nil {
		return err
	}
	of := []*store.Appending{{ID: ledger.IDOf(info.Origin), Batch: first}}
	args := append(append(entryArgs(of, len(first.Rows)), info.Name, info.Origin), otherArgs(of)...)
	made, err := s.insert(ctx, sqlCreate, args)
	if err == nil && len(made) == 0 {
		err = ledger.ErrExists
	}
	return err
}

// append is a store.Send: it runs one statement.
func (s *Store) append(all []*store.Appending) ([]ledger.ID, error) {
	sql, args := appending(all)
	moved, err := s.insert(context.Background(), sql, args)
	if len(all) == 1 && isCode(err, codeUnique) {
		err = s.conflict(all[0], err)
	}
	return moved, err
}

// appending is the statement of appends. It leaves tiles, slots and decks out if there are none, because they cost a
// sixth more of the processor time of an append of one entry.
func appending(all []*store.Appending) (sql string, args []any) {
	if sql = sqlMoveHeads; len(all) == 1 {
		sql = sqlMoveHead
	}
	sizes, roots := make([]int64, len(all)), make([][]byte, len(all))
	rows, others := 0, 0
	for i, a := range all {
		sizes[i], roots[i] = int64(a.Old.Size), a.Old.Root[:]
		slots, _ := store.Slots(a.Batch)
		rows += len(a.Batch.Rows)
		others += len(a.Batch.Tiles) + len(slots) + len(a.Batch.Decks)
	}
	args = append(entryArgs(all, rows), sizes, roots)
	if others == 0 {
		return sql + sqlNewEntries + sqlNewCheckpoints, args
	}
	return sql + sqlNewEntries + sqlNewOthers + sqlNewCheckpoints, append(args, otherArgs(all)...)
}

// entryArgs returns the columns of heads and of n entries.
func entryArgs(all []*store.Appending, n int) []any {
	numbers, blobs := func() []int64 { return make([]int64, 0, n) }, func() [][]byte { return make([][]byte, 0, n) }
	var ids, sizes []int64
	var roots, checkpoints [][]byte
	of, indexes, times, serials, shuffles := numbers(), numbers(), numbers(), numbers(), numbers()
	tags, entries, kept := blobs(), blobs(), blobs()
	types, tables, games := make([]int16, 0, n), make([]string, 0, n), make([]string, 0, n)
	for _, a := range all {
		h := &a.Batch.Head
		ids, sizes = append(ids, int64(a.ID)), append(sizes, int64(h.Size))
		roots, checkpoints = append(roots, h.Root[:]), append(checkpoints, h.Checkpoint)
		for i := range a.Batch.Rows {
			r := &a.Batch.Rows[i]
			var tag []byte
			if r.Serial != 0 { // a commit
				tag = r.KeyTag[:]
			}
			of, indexes, times = append(of, int64(a.ID)), append(indexes, int64(r.Index)), append(times, r.Time)
			serials, shuffles = append(serials, int64(r.Serial)), append(shuffles, int64(r.Shuffle))
			types, tables, tags = append(types, int16(r.Type)), append(tables, r.Table), append(tags, tag)
			entries, kept, games = append(entries, r.Entry), append(kept, r.Kept), append(games, r.GameRef)
		}
	}
	return []any{ids, sizes, roots, checkpoints,
		of, indexes, times, serials, shuffles, types, tables, tags, entries, kept, games}
}

// otherArgs returns the columns of tiles, slots and decks.
func otherArgs(all []*store.Appending) []any {
	var tileOf, indexes, slotOf, commits, deckOf []int64
	var levels []int16
	var data, slots, hashes, lists [][]byte
	for _, a := range all {
		for _, t := range a.Batch.Tiles {
			tileOf, levels = append(tileOf, int64(a.ID)), append(levels, int16(t.Level))
			indexes, data = append(indexes, int64(t.Index)), append(data, t.Data)
		}
		named, by := store.Slots(a.Batch)
		slots, commits = append(slots, named...), append(commits, by...)
		slotOf = append(slotOf, slices.Repeat([]int64{int64(a.ID)}, len(named))...)
		for i := range a.Batch.Decks {
			d := &a.Batch.Decks[i]
			deckOf, hashes, lists = append(deckOf, int64(a.ID)), append(hashes, d.Hash[:]), append(lists, d.List)
		}
	}
	return []any{tileOf, levels, indexes, data, slotOf, slots, commits, deckOf, hashes, lists}
}

// A write that the server rolled back in favour of another transaction is sent again.
const (
	writeTries = 5
	retryPause = time.Millisecond // before it is sent again; twice as long each time
)

// write sends one transaction, in one round trip. Its error is that of outcome, or nothing was sent.
func (s *Store) write(ctx context.Context, send func(context.Context, *pgx.Conn) error) (err error) {
	waiting, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	conn, err := s.appends.Acquire(waiting)
	if err != nil {
		return fmt.Errorf("waiting for a connection: %w", clean(err))
	}
	defer conn.Release()
	sent, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.timeout)
	defer cancel()
	ended := s.watch(conn)
	for tries := 1; ; tries++ {
		if err = send(sent, conn.Conn()); !rolledBack(err) || tries == writeTries {
			break
		}
		ledger.Sleep(sent, retryPause<<tries, nil)
	}
	if err := ended(err); err != nil {
		return outcome(err)
	}
	if err := replicated(conn.Conn().PgConn()); err != nil {
		return fmt.Errorf("%w: %w", ledger.ErrUnknownOutcome, err)
	}
	return nil
}

// insert runs a statement that appends, and returns the ledgers whose heads it wrote.
func (s *Store) insert(ctx context.Context, sql string, args []any) (of []ledger.ID, err error) {
	err = s.write(ctx, func(ctx context.Context, conn *pgx.Conn) (err error) {
		rows, _ := conn.Query(ctx, sql, args...) // its error is that of the rows
		of, err = pgx.CollectRows(rows, pgx.RowTo[ledger.ID])
		return err
	})
	return of, err
}

// keep is a store.Exec for evidence. A handover runs behind the lock of an append: without it, it would not see a
// handover that another connection has not committed yet.
func (s *Store) keep(ctx context.Context, sql string, args ...any) (n int64, err error) {
	err = s.write(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		var all pgx.Batch
		if sql == store.SQLNewHandover {
			all.Queue(sqlHead, args[0])
		}
		all.Queue(sql, args...).Exec(func(tag pgconn.CommandTag) error { n = tag.RowsAffected(); return nil })
		return conn.SendBatch(ctx, &all).Close()
	})
	return n, refused(err)
}

// conflict explains an append that a unique index refused: the ledger has key tags or slots of the batch, or the head
// is another one than expected, or it is the expected one and stored rows contradict it.
func (s *Store) conflict(a *store.Appending, refused error) error {
	ctx, cancel := context.WithTimeout(context.Background(), s.timeout)
	defer cancel()
	var pg *pgconn.PgError
	if errors.As(refused, &pg) && (strings.HasPrefix(pg.ConstraintName, "entries_key_tag") ||
		strings.HasPrefix(pg.ConstraintName, "slots_")) {
		if err := store.Duplicate(ctx, s.queryAppends, a.ID, a.Batch); err != nil {
			return err
		}
		return fmt.Errorf("the batch repeats an idempotency key or slot of its own: %w", refused)
	}
	head, err := s.Head(ctx, a.ID)
	if err == nil && (head.Size != a.Old.Size || head.Root != a.Old.Root) {
		return ledger.ErrStale
	}
	if err == nil && pg != nil {
		return fmt.Errorf("the batch contradicts rows that are stored: one stands where entry %d or what belongs to it "+
			"goes (%s): see docs/OPERATIONS.md, A row in the way: %w", a.Old.Size, pg.ConstraintName, refused)
	}
	return fmt.Errorf("the batch contradicts rows that are stored: %w", refused)
}

// Head implements [ledger.Store].
func (s *Store) Head(ctx context.Context, id ledger.ID) (ledger.Head, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	return store.One(ctx, s.queryAppends, store.ScanHead, sqlHead, int64(id))
}
