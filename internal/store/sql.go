package store

// The statements that both stores run: parameters are $1, $2 …, typed if PostgreSQL could not tell. What stands in a
// comment is for SQLite, which without it prefers the index of the key.

// RowColumns are the columns that ScanRow reads, of entries e.
const RowColumns = `e.idx, e.time, e.type, coalesce(e.serial, 0), coalesce(e.shuffle, 0), coalesce(e.tbl, ''),
e.key_tag, e.entry, e.kept, coalesce(e.game_ref, '')`

// Of the evidence.
const (
	SQLLedgers = `SELECT name, origin FROM ledgers ORDER BY name`

	SQLSize = `SELECT size FROM heads WHERE ledger = $1`

	SQLRows = `SELECT ` + RowColumns + ` FROM entries e
WHERE e.ledger = $1 AND e.idx >= $2 AND e.idx < $3 ORDER BY e.idx`

	SQLCheckpointAfter = `SELECT size, root, checkpoint FROM checkpoints
WHERE ledger = $1 AND size > $2 ORDER BY size LIMIT 1`

	SQLCosignedFrom = `SELECT size, root, checkpoint FROM cosigned
WHERE ledger = $1 AND size >= $2 ORDER BY size LIMIT $3`

	SQLLateFrom = `SELECT size, root, checkpoint FROM late
WHERE ledger = $1 AND size >= $2 ORDER BY size LIMIT $3`

	SQLNewestLate = `SELECT size, root, checkpoint FROM late
WHERE ledger = $1 ORDER BY size DESC LIMIT $2`

	SQLTile = `SELECT data FROM tiles WHERE ledger = $1 AND level = $2 AND idx = $3`

	SQLTerms = `SELECT kind, bytes FROM terms WHERE ledger = $1 AND hash = $2`

	SQLNewStatement = `INSERT INTO statements (ledger, shuffle, n, note) VALUES ($1, $2, $3, $4)`

	SQLStatements = `SELECT note FROM statements WHERE ledger = $1 AND shuffle = $2 ORDER BY n`

	SQLDeck = `SELECT cards FROM decks WHERE ledger = $1 AND hash = $2`
)

// Of the access records.
const (
	SQLNewAccess = `INSERT INTO access_records (ledger, time, request, token, method, path, seq, prev)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`

	SQLLastAccess = `SELECT seq, prev, time, request, token, method, path FROM access_records
WHERE ledger = $1 ORDER BY seq DESC LIMIT 1`

	SQLAccess = `SELECT time, request, token, method, path FROM access_records
WHERE ledger = $1 AND time >= $2 AND time < $3 AND (time, request) > (CAST($4 AS bigint), CAST($5 AS text))
ORDER BY time, request LIMIT $6`

	// OverdueAccess are the access records of ledger $1 from the beginning of the chain up to the first that is of the
	// time $2 or later. The newest stays.
	OverdueAccess = `FROM access_records WHERE ledger = $1 AND time < $2
    AND seq < coalesce((SELECT min(seq) FROM access_records WHERE ledger = $1 AND time >= $2), 9223372036854775807)
    AND seq < (SELECT max(seq) FROM access_records WHERE ledger = $1)`

	SQLCountAccess = `SELECT count(*) ` + OverdueAccess
)

// Statements lists what Reads runs.
var Statements = []string{
	SQLLedgers, SQLSize, SQLRows, SQLCheckpointAfter, SQLCosignedFrom, SQLLateFrom, SQLNewestLate, SQLTile,
	SQLDeck, SQLTerms, SQLStatements, SQLLastAccess, SQLAccess, SQLCountAccess, RecallEntryAt, RecallByID,
	RecallByGameRef, RecallByTable,
}
