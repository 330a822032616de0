package sqlite

import (
	"maps"
	"slices"
)

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

	sqlNewEntry = `INSERT INTO entries (ledger, idx, time, serial, shuffle, type, tbl, key_tag, entry, sealed, game_ref)
VALUES (?, ?, ?, nullif(?, 0), nullif(?, 0), ?, nullif(?, ''), ?, ?, ?, nullif(?, ''))`
	sqlNewSlot       = `INSERT INTO slots (ledger, slot, idx) VALUES (?, ?, ?)`
	sqlNewTile       = `INSERT INTO tiles (ledger, level, idx, data) VALUES (?, ?, ?, ?)`
	sqlNewCheckpoint = `INSERT INTO checkpoints (ledger, size, root, checkpoint) VALUES (?, ?, ?, ?)`

	sqlNewCosigned = `INSERT INTO cosigned (ledger, size, root, checkpoint) VALUES (?, ?, ?, ?)`

	sqlNewDeck = `INSERT INTO decks (ledger, hash, cards) SELECT ?1, ?2, ?3
WHERE NOT EXISTS (SELECT 1 FROM decks WHERE ledger = ?1 AND hash = ?2)`

	sqlNewAccess  = `INSERT INTO access_records (ledger, time, request, token, method, path, seq, prev) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`
	sqlDropAccess = `DELETE FROM access_records WHERE ledger = ?1 AND (time, request) IN
(SELECT time, request ` + overdueAccess + ` ORDER BY seq NULLS FIRST, time, request LIMIT ?3)`
	sqlLastAccess = `SELECT seq, prev, time, request, token, method, path FROM access_records
WHERE ledger = ?1 AND seq IS NOT NULL ORDER BY seq DESC LIMIT 1`

	// overdueAccess are those of before the chain, and its beginning up to the first that
	// stays. The newest stays.
	overdueAccess = `FROM access_records WHERE ledger = ?1 AND time < ?2 AND (seq IS NULL
OR seq < coalesce((SELECT min(seq) FROM access_records WHERE ledger = ?1 AND time >= ?2), 9223372036854775807)
AND seq < (SELECT max(seq) FROM access_records WHERE ledger = ?1))`
)

const (
	rowColumns = `idx, time, type, coalesce(serial, 0), coalesce(shuffle, 0), coalesce(tbl, ''), key_tag, entry, sealed, coalesce(game_ref, '')`
)

// What readers run.
const (
	sqlLedgers  = `SELECT name, origin FROM ledgers ORDER BY name`
	sqlSize     = `SELECT size FROM heads WHERE ledger = ?`
	sqlRows     = `SELECT ` + rowColumns + ` FROM entries WHERE ledger = ? AND idx >= ? AND idx < ? ORDER BY idx`
	sqlByKeyTag = `SELECT ` + rowColumns + ` FROM entries WHERE ledger = ? AND key_tag = ?`
	sqlHasTag   = `SELECT idx FROM entries WHERE ledger = ? AND key_tag = ?`
	sqlHasSlot  = `SELECT idx FROM slots WHERE ledger = ? AND slot = ?`

	sqlByShuffle = `SELECT ` + rowColumns + ` FROM entries WHERE ledger = ?1 AND idx = ?2 AND type = 2
UNION ALL SELECT ` + rowColumns + ` FROM entries WHERE ledger = ?1 AND shuffle = ?2 ORDER BY idx`

	sqlCheckpointAfter = `SELECT size, root, checkpoint FROM checkpoints WHERE ledger = ? AND size > ? ORDER BY size LIMIT 1`

	sqlHasCosigned    = `SELECT size FROM cosigned WHERE ledger = ? AND size = ?`
	sqlNewestCosigned = `SELECT size FROM cosigned WHERE ledger = ? ORDER BY size DESC LIMIT 1`
	sqlCosignedAtMost = `SELECT size, root, checkpoint FROM cosigned WHERE ledger = ? AND size <= ? ORDER BY size DESC LIMIT 1`
	sqlCosignedFrom   = `SELECT size, root, checkpoint FROM cosigned WHERE ledger = ? AND size >= ? ORDER BY size LIMIT ?`

	sqlTile = `SELECT data FROM tiles WHERE ledger = ? AND level = ? AND idx = ?`
	sqlDeck = `SELECT cards FROM decks WHERE ledger = ? AND hash = ?`
)

const (
	sqlAccess = `SELECT time, request, token, method, path FROM access_records
WHERE ledger = ? AND time >= ? AND time < ? AND (time, request) > (?, ?) ORDER BY time, request LIMIT ?`
	sqlCountAccess = `SELECT count(*) ` + overdueAccess
)

var (
	sqlWrites = []string{sqlBegin, sqlCommit, sqlRollback, sqlTaken, sqlNewLedger, sqlNewHead, sqlHead, sqlMoveHead,
		sqlNewEntry, sqlNewSlot, sqlNewTile, sqlNewCheckpoint, sqlNewCosigned, sqlHasCosigned, sqlNewestCosigned, sqlNewDeck, sqlDeck,
		sqlNewAccess, sqlLastAccess, sqlDropAccess}
	sqlReads = append([]string{sqlLedgers, sqlSize, sqlRows, sqlByKeyTag, sqlHasTag, sqlHasSlot, sqlByShuffle,
		sqlCheckpointAfter, sqlCosignedAtMost, sqlCosignedFrom, sqlTile, sqlDeck,
		sqlAccess, sqlLastAccess, sqlCountAccess}, slices.Collect(maps.Values(sqlRecall))...)
)
