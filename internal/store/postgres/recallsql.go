package postgres

import "shuffled/internal/store"

// The statements of recall.

const (
	sqlRecallMark = `SELECT next, dropped FROM recall_marks WHERE ledger = $1`

	recallColumns = `id, tbl, serial, committed, close_by, coalesce(game_ref, ''), draw, coalesce(parent, 0),
    coalesce(closed, 0), coalesce(outcome, 0), coalesce(reason, 0)`

	recallFrom = `SELECT ` + recallColumns + ` FROM recall WHERE ledger = $1`

	// recallRest is the rest of every question: $2 ids after, $3 and $4 times, which
	// become ids since both grow together, $5 table, $6 serial, $7 game reference and
	// $8 state, each of which may ask nothing, $9 how many.
	recallRest = `
AND id >= greatest($2::bigint + 1, coalesce((SELECT f.id FROM recall f WHERE f.ledger = $1 AND f.committed >= $3
    ORDER BY f.committed, f.id LIMIT 1), 9223372036854775807))
AND id < coalesce((SELECT u.id FROM recall u WHERE u.ledger = $1 AND u.committed >= $4
    ORDER BY u.committed, u.id LIMIT 1), 9223372036854775807)
AND ($5::text = '' OR tbl = $5) AND ($6::bigint = 0 OR serial = $6) AND ($7::text = '' OR game_ref = $7)
AND ($8::text = '' OR ($8 = 'open') = (closed IS NULL))
ORDER BY id LIMIT $9`
)

// sqlRecall has a statement for every index, which names what the index is of.
var sqlRecall = map[store.RecallBy]string{
	store.RecallByID:      recallFrom + recallRest,
	store.RecallByTable:   recallFrom + ` AND tbl = $5` + recallRest,
	store.RecallBySerial:  recallFrom + ` AND id = (SELECT idx FROM entries WHERE ledger = $1 AND tbl = $5 AND serial = $6)` + recallRest,
	store.RecallByGameRef: recallFrom + ` AND game_ref = $7` + recallRest,
	store.RecallByOpen:    recallFrom + ` AND closed IS NULL` + recallRest,
}

// sqlPutRecall moves the mark of $1 from $2, $3 to $4, and makes it where there is
// none and $2 and $3 are 0. Where the mark is another one, nothing is written, as
// in sqlInsert.
//
//	$5 … $15 the commits' columns, $16 … $19 the closes', $20 ids to remove
const sqlPutRecall = `
WITH made AS (
    INSERT INTO recall_marks (ledger, next, dropped) SELECT $1::bigint, $4::bigint, 0 WHERE $2::bigint = 0 AND $3::bigint = 0
    ON CONFLICT (ledger) DO NOTHING
    RETURNING ledger
), moved AS (
    UPDATE recall_marks SET next = $4 WHERE ledger = $1 AND next = $2 AND dropped = $3
    RETURNING ledger
), mark AS (
    SELECT ledger FROM made UNION ALL SELECT ledger FROM moved
), commits AS (
    INSERT INTO recall (ledger, id, tbl, serial, committed, close_by, game_ref, draw, parent, closed, outcome, reason)
    SELECT mark.ledger, c.id, c.tbl, c.serial, c.committed, c.close_by, nullif(c.game_ref, ''), c.draw, nullif(c.parent, 0),
           nullif(c.closed, 0), nullif(c.outcome, 0), CASE WHEN c.closed <> 0 THEN c.reason END
    FROM mark, unnest($5::bigint[], $6::text[], $7::bigint[], $8::bigint[], $9::bigint[], $10::text[], $11::boolean[],
                      $12::bigint[], $13::bigint[], $14::smallint[], $15::smallint[])
         AS c (id, tbl, serial, committed, close_by, game_ref, draw, parent, closed, outcome, reason)
    ON CONFLICT (ledger, id) DO UPDATE SET tbl = excluded.tbl, serial = excluded.serial, committed = excluded.committed,
        close_by = excluded.close_by, game_ref = excluded.game_ref, draw = excluded.draw, parent = excluded.parent,
        closed = excluded.closed, outcome = excluded.outcome, reason = excluded.reason
), closes AS (
    UPDATE recall r SET closed = c.closed, outcome = c.outcome, reason = c.reason
    FROM mark, unnest($16::bigint[], $17::bigint[], $18::smallint[], $19::smallint[]) AS c (id, closed, outcome, reason)
    WHERE r.ledger = mark.ledger AND r.id = c.id
), outdated AS (
    DELETE FROM recall r USING mark, unnest($20::bigint[]) AS o (id) WHERE r.ledger = mark.ledger AND r.id = o.id
)
SELECT count(*) FROM mark`

const sqlCountRecall = `SELECT count(*) FROM recall WHERE ledger = $1 AND closed < $2`

const sqlDropRecall = `
WITH mark AS (
    INSERT INTO recall_marks (ledger, next, dropped) VALUES ($1, 0, $2)
    ON CONFLICT (ledger) DO UPDATE SET dropped = greatest(recall_marks.dropped, excluded.dropped)
    RETURNING ledger
), gone AS (
    DELETE FROM recall r USING mark WHERE r.ledger = mark.ledger
    AND r.id = ANY (ARRAY(SELECT id FROM recall WHERE ledger = $1 AND closed < $2 ORDER BY closed, id LIMIT $3))
    RETURNING r.id
)
SELECT count(*) FROM gone`
