package sqlite

// All statements of this package.

// What the writer runs.
const (
	sqlBegin    = `BEGIN IMMEDIATE`
	sqlCommit   = `COMMIT`
	sqlRollback = `ROLLBACK`

	sqlTaken     = `SELECT count(*) FROM ledgers WHERE ledger = ? OR name = ? OR origin = ?`
	sqlNewLedger = `INSERT INTO ledgers (ledger, name, origin) VALUES (?, ?, ?)`
	sqlNewHead   = `INSERT INTO heads (ledger, size, root, checkpoint) VALUES (?, ?, ?, ?)`

	sqlHead     = `SELECT size, root, checkpoint FROM heads WHERE ledger = ?`
	sqlMoveHead = `UPDATE heads SET size = ?, root = ?, checkpoint = ? WHERE ledger = ? AND size = ? AND root = ?`

	sqlNewEntry = `INSERT INTO entries (ledger, idx, time, serial, shuffle, type, tbl, key_tag, entry, sealed)
VALUES (?, ?, ?, nullif(?, 0), nullif(?, 0), ?, nullif(?, ''), ?, ?, ?)`
	sqlNewTile       = `INSERT INTO tiles (ledger, level, idx, data) VALUES (?, ?, ?, ?)`
	sqlNewCheckpoint = `INSERT INTO checkpoints (ledger, size, root, checkpoint) VALUES (?, ?, ?, ?)`

	sqlNewCosigned = `INSERT INTO cosigned (ledger, size, root, checkpoint) VALUES (?, ?, ?, ?)`

	sqlNewDeck = `INSERT INTO decks (ledger, hash, cards) VALUES (?, ?, ?)`

	sqlNewToken = `INSERT INTO tokens (ledger, id, role, hash, created, expires, revoked)
VALUES (?, ?, ?, ?, ?, nullif(?, 0), nullif(?, 0))`
	sqlRevokeToken = `UPDATE tokens SET revoked = ? WHERE ledger = ? AND id = ? AND revoked IS NULL`
)

const (
	rowColumns   = `idx, time, type, coalesce(serial, 0), coalesce(shuffle, 0), coalesce(tbl, ''), key_tag, entry, sealed`
	tokenColumns = `id, role, hash, created, coalesce(expires, 0), coalesce(revoked, 0)`
)

// What readers run.
const (
	sqlLedgers  = `SELECT name, origin FROM ledgers ORDER BY name`
	sqlSize     = `SELECT size FROM heads WHERE ledger = ?`
	sqlRows     = `SELECT ` + rowColumns + ` FROM entries WHERE ledger = ? AND idx >= ? AND idx < ? ORDER BY idx`
	sqlByKeyTag = `SELECT ` + rowColumns + ` FROM entries WHERE ledger = ? AND key_tag = ?`
	sqlHasTag   = `SELECT idx FROM entries WHERE ledger = ? AND key_tag = ?`

	sqlByShuffle = `SELECT ` + rowColumns + ` FROM entries WHERE ledger = ?1 AND idx = ?2 AND type = 2
UNION ALL SELECT ` + rowColumns + ` FROM entries WHERE ledger = ?1 AND shuffle = ?2 ORDER BY idx`

	sqlCheckpointAfter = `SELECT size, root, checkpoint FROM checkpoints WHERE ledger = ? AND size > ? ORDER BY size LIMIT 1`

	sqlHasCosigned    = `SELECT size FROM cosigned WHERE ledger = ? AND size = ?`
	sqlCosignedAtMost = `SELECT size, root, checkpoint FROM cosigned WHERE ledger = ? AND size <= ? ORDER BY size DESC LIMIT 1`
	sqlCosignedFrom   = `SELECT size, root, checkpoint FROM cosigned WHERE ledger = ? AND size >= ? ORDER BY size LIMIT ?`

	sqlTile   = `SELECT data FROM tiles WHERE ledger = ? AND level = ? AND idx = ?`
	sqlDeck   = `SELECT cards FROM decks WHERE ledger = ? AND hash = ?`
	sqlToken  = `SELECT ` + tokenColumns + ` FROM tokens WHERE ledger = ? AND id = ?`
	sqlTokens = `SELECT ` + tokenColumns + ` FROM tokens WHERE ledger = ? ORDER BY created, id`
)

var (
	sqlWrites = []string{sqlBegin, sqlCommit, sqlRollback, sqlTaken, sqlNewLedger, sqlNewHead, sqlHead, sqlMoveHead,
		sqlNewEntry, sqlNewTile, sqlNewCheckpoint, sqlNewCosigned, sqlHasCosigned, sqlNewDeck, sqlDeck, sqlNewToken, sqlRevokeToken}
	sqlReads = []string{sqlLedgers, sqlSize, sqlRows, sqlByKeyTag, sqlHasTag, sqlByShuffle,
		sqlCheckpointAfter, sqlCosignedAtMost, sqlCosignedFrom, sqlTile, sqlDeck, sqlToken, sqlTokens}
)
