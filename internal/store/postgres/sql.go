package postgres

import "shuffled/internal/store"

// The finders' own statements. LIMIT and OFFSET have each thing looked up on its own, and connections set
// enable_seqscan off, so in its index: a plan that was made while the table was small stays in use. In a subquery that
// nothing reads, the lock of the barrier would not be taken.
const (
	sqlByKeyTags = `SELECT ` + store.RowColumns + ` FROM heads h
CROSS JOIN unnest($2::bytea[]) AS t (tag) CROSS JOIN LATERAL
(SELECT * FROM entries WHERE ledger = h.ledger AND key_tag = t.tag LIMIT 1) e
WHERE h.ledger = $1` + store.Barrier

	sqlCommits = `SELECT ` + store.RowColumns +
		` FROM heads h CROSS JOIN unnest($2::bigint[]) AS s (id) CROSS JOIN LATERAL
(SELECT * FROM entries WHERE ledger = h.ledger AND idx = s.id AND type = 2 LIMIT 1) e
WHERE h.ledger = $1` + store.Barrier

	sqlOfShuffles = `SELECT ` + store.RowColumns + ` FROM unnest($2::bigint[]) AS s (id) CROSS JOIN LATERAL
(SELECT * FROM entries WHERE ledger = $1 AND shuffle = s.id ORDER BY idx OFFSET 0) e`

	// sqlShuffles is sqlCommits and sqlOfShuffles without the barrier.
	sqlShuffles = `SELECT ` + store.RowColumns + ` FROM unnest($2::bigint[]) AS s (id) CROSS JOIN LATERAL
(SELECT * FROM entries WHERE ledger = $1 AND idx = s.id AND type = 2 LIMIT 1) e
UNION ALL ` + sqlOfShuffles
)

const sqlDropAccess = `DELETE FROM access_records WHERE ctid = ANY (ARRAY(
    SELECT ctid ` + store.OverdueAccess + ` ORDER BY seq LIMIT $3))`
