package postgres

import "shuffled/internal/store"

// All statements of this package. Parameters are typed where PostgreSQL could
// not tell, and are sent in binary.

// An append is a CTE named head that returns the ledger, or no row, and INSERTs that
// then insert nothing. Every INSERT must select from head: a data-modifying CTE runs
// whether or not anything reads it.
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

// sqlNewOthers adds tiles, whose columns are $16 … $18, slots, $19 and $20, and decks,
// $21 and $22, those that are not there.
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
SELECT count(*) FROM head`

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

// The barrier is FOR KEY SHARE OF h. In a subquery that nothing reads it would
// not be taken. LIMIT and OFFSET have each thing looked up on its own, and
// connections set enable_seqscan off, so in its index: a plan that was made while the
// table was small stays in use.
const (
	sqlByKeyTags = `SELECT ` + store.RowColumns + ` FROM heads h
CROSS JOIN unnest($2::bytea[]) AS t (tag) CROSS JOIN LATERAL
(SELECT * FROM entries WHERE ledger = h.ledger AND key_tag = t.tag LIMIT 1) e
WHERE h.ledger = $1 FOR KEY SHARE OF h`

	sqlKeyTags = `SELECT e.key_tag FROM heads h JOIN entries e ON e.ledger = h.ledger
WHERE h.ledger = $1 AND e.key_tag = ANY ($2::bytea[]) FOR KEY SHARE OF h`

	sqlSlots = `SELECT s.slot FROM heads h JOIN slots s ON s.ledger = h.ledger
WHERE h.ledger = $1 AND s.slot = ANY ($2::bytea[]) FOR KEY SHARE OF h`

	sqlCommits = `SELECT ` + store.RowColumns +
		` FROM heads h CROSS JOIN unnest($2::bigint[]) AS s (id) CROSS JOIN LATERAL
(SELECT * FROM entries WHERE ledger = h.ledger AND idx = s.id AND type = 2 LIMIT 1) e
WHERE h.ledger = $1 FOR KEY SHARE OF h`

	sqlOfShuffles = `SELECT ` + store.RowColumns + ` FROM unnest($2::bigint[]) AS s (id) CROSS JOIN LATERAL
(SELECT * FROM entries WHERE ledger = $1 AND shuffle = s.id ORDER BY idx OFFSET 0) e`

	// sqlBarrier is the barrier alone, for what was not found: no row, no lock.
	sqlBarrier = `SELECT true FROM heads WHERE ledger = $1 FOR KEY SHARE`

	// sqlShuffles is both without the barrier.
	sqlShuffles = `SELECT ` + store.RowColumns + ` FROM unnest($2::bigint[]) AS s (id) CROSS JOIN LATERAL
(SELECT * FROM entries WHERE ledger = $1 AND idx = s.id AND type = 2 LIMIT 1) e
UNION ALL ` + sqlOfShuffles
)

// sqlPutCosigned counts what it writes, for Store.write.
const sqlPutCosigned = `
WITH new_cosigned AS (
    INSERT INTO cosigned (ledger, size, root, checkpoint) VALUES ($1, $2, $3, $4)
    ON CONFLICT (ledger, size) DO NOTHING
    RETURNING ledger
)
SELECT count(*) FROM new_cosigned`

// sqlPutLate counts what it writes, for Store.write.
const sqlPutLate = `
WITH new_late AS (
    INSERT INTO late (ledger, size, root, checkpoint) VALUES ($1, $2, $3, $4)
    ON CONFLICT (ledger, size) DO NOTHING
    RETURNING ledger
)
SELECT count(*) FROM new_late`

// sqlPutTerms counts what it writes, for Store.write. sqlHasTerms has the barrier.
const (
	sqlPutTerms = `
WITH new_terms AS (
    INSERT INTO terms (ledger, hash, kind, bytes) VALUES ($1, $2, $3, $4)
    ON CONFLICT (ledger, hash) DO NOTHING
    RETURNING ledger
)
SELECT count(*) FROM new_terms`

	sqlHasTerms = `SELECT t.kind FROM heads h JOIN terms t ON t.ledger = h.ledger
WHERE h.ledger = $1 AND t.hash = $2 FOR KEY SHARE OF h`
)

// sqlPutHandover is sqlPutCosigned where nothing of size $5 or above stands. It runs
// behind sqlHandovers in one transaction: alone, it would not see what another
// connection has not committed yet.
const (
	sqlHandovers = `SELECT pg_advisory_xact_lock($1)`

	sqlPutHandover = `
WITH new_cosigned AS (
    INSERT INTO cosigned (ledger, size, root, checkpoint) SELECT $1::bigint, $2::bigint, $3::bytea, $4::bytea
    WHERE NOT EXISTS (SELECT FROM cosigned WHERE ledger = $1 AND size >= $5)
    RETURNING ledger
)
SELECT count(*) FROM new_cosigned`
)

// Both have the barrier.
const (
	sqlHasCosigned = `SELECT c.size FROM heads h JOIN cosigned c ON c.ledger = h.ledger
WHERE h.ledger = $1 AND c.size = $2 FOR KEY SHARE OF h`

	sqlCosignedAtMost = `SELECT c.size, c.root, c.checkpoint FROM heads h JOIN cosigned c ON c.ledger = h.ledger
WHERE h.ledger = $1 AND c.size <= $2 ORDER BY c.size DESC LIMIT 1 FOR KEY SHARE OF h`
)

const sqlDropAccess = `DELETE FROM access_records WHERE ctid = ANY (ARRAY(
    SELECT ctid ` + store.OverdueAccess + ` ORDER BY seq LIMIT $3))`
