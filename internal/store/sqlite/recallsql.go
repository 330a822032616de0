package sqlite

import "shuffled/internal/store"

// The statements of recall.

const (
	sqlRecallMark = `SELECT next, dropped FROM recall_marks WHERE ledger = ?`

	recallColumns = `id, tbl, serial, committed, close_by, coalesce(game_ref, ''), draw, coalesce(parent, 0),
    coalesce(closed, 0), coalesce(outcome, 0), coalesce(reason, 0)`

	recallFrom = `SELECT ` + recallColumns + ` FROM recall`

	// recallRest is the rest of every question: ?2 ids after, ?3 and ?4 times, which
	// become ids since both grow together, ?5 table, ?6 serial, ?7 game reference and
	// ?8 state, each of which may ask nothing, ?9 how many.
	recallRest = `
AND id >= max(?2 + 1, coalesce((SELECT f.id FROM recall f INDEXED BY recall_committed WHERE f.ledger = ?1 AND f.committed >= ?3
    ORDER BY f.committed, f.id LIMIT 1), 9223372036854775807))
AND id < coalesce((SELECT u.id FROM recall u INDEXED BY recall_committed WHERE u.ledger = ?1 AND u.committed >= ?4
    ORDER BY u.committed, u.id LIMIT 1), 9223372036854775807)
AND (?5 = '' OR tbl = ?5) AND (?6 = 0 OR serial = ?6) AND (?7 = '' OR game_ref = ?7)
AND (?8 = '' OR (?8 = 'open') = (closed IS NULL))
ORDER BY id LIMIT ?9`
)

// sqlRecall has a statement for every index. INDEXED BY refuses any other one.
var sqlRecall = map[store.RecallBy]string{
	store.RecallByID:    recallFrom + ` NOT INDEXED WHERE ledger = ?1` + recallRest,
	store.RecallByTable: recallFrom + ` INDEXED BY recall_tbl WHERE ledger = ?1 AND tbl = ?5` + recallRest,
	store.RecallBySerial: recallFrom + ` NOT INDEXED WHERE ledger = ?1 AND id = (SELECT idx FROM entries INDEXED BY entries_serial
    WHERE ledger = ?1 AND tbl = ?5 AND serial = ?6)` + recallRest,
	store.RecallByGameRef: recallFrom + ` INDEXED BY recall_game_ref WHERE ledger = ?1 AND game_ref = ?7` + recallRest,
	store.RecallByOpen:    recallFrom + ` INDEXED BY recall_open WHERE ledger = ?1 AND closed IS NULL` + recallRest,
}

const (
	sqlMoveMark = `INSERT INTO recall_marks (ledger, next, dropped) VALUES (?, ?, 0) ON CONFLICT (ledger) DO UPDATE SET next = excluded.next`

	sqlNewRecall = `INSERT INTO recall (ledger, id, tbl, serial, committed, close_by, game_ref, draw, parent, closed, outcome, reason)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, nullif(?7, ''), ?8, nullif(?9, 0), nullif(?10, 0), nullif(?11, 0), CASE WHEN ?10 <> 0 THEN ?12 END)
ON CONFLICT (ledger, id) DO UPDATE SET tbl = excluded.tbl, serial = excluded.serial, committed = excluded.committed,
    close_by = excluded.close_by, game_ref = excluded.game_ref, draw = excluded.draw, parent = excluded.parent,
    closed = excluded.closed, outcome = excluded.outcome, reason = excluded.reason`
	sqlCloseRecall  = `UPDATE recall SET closed = ?, outcome = ?, reason = ? WHERE ledger = ? AND id = ?`
	sqlRemoveRecall = `DELETE FROM recall WHERE ledger = ? AND id = ?`

	sqlCountRecall  = `SELECT count(*) FROM recall WHERE ledger = ? AND closed < ?`
	sqlRaiseDropped = `INSERT INTO recall_marks (ledger, next, dropped) VALUES (?, 0, ?)
ON CONFLICT (ledger) DO UPDATE SET dropped = max(dropped, excluded.dropped)`
	sqlDropRecall = `DELETE FROM recall WHERE ledger = ?1 AND id IN
(SELECT id FROM recall WHERE ledger = ?1 AND closed < ?2 ORDER BY closed, id LIMIT ?3)`
)
