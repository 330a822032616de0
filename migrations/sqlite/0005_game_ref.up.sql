-- Recall asks the entries themselves, as in migrations/postgres. The new column
-- stands last, which is where SQLite can add one.
ALTER TABLE entries ADD COLUMN game_ref TEXT CHECK (game_ref IS NULL OR type = 2);

-- Refused where recall does not hold all commits: by a trigger, since nothing else
-- can refuse. A migration has the database to itself.
CREATE TABLE migrating_up (ledger INTEGER) STRICT;
CREATE TRIGGER recall_whole BEFORE INSERT ON migrating_up
BEGIN SELECT RAISE(ABORT, 'recall does not hold all commits, from which their game references are taken: make it whole first, see docs/OPERATIONS.md, Migrations'); END;
INSERT INTO migrating_up SELECT e.ledger FROM entries e WHERE e.type = 2
    AND NOT EXISTS (SELECT 1 FROM recall r WHERE r.ledger = e.ledger AND r.id = e.idx) LIMIT 1;
DROP TABLE migrating_up;

-- The only change that evidence ever sees: a column is filled that was not there.
DROP TRIGGER entries_no_update;
UPDATE entries SET game_ref = r.game_ref
FROM recall r WHERE r.ledger = entries.ledger AND r.id = entries.idx AND r.game_ref IS NOT NULL;
CREATE TRIGGER entries_no_update BEFORE UPDATE ON entries
BEGIN SELECT RAISE(ABORT, 'UPDATE of entries is refused: evidence is insert-only'); END;

CREATE INDEX entries_game_ref ON entries (ledger, game_ref, idx) WHERE game_ref IS NOT NULL;

DROP TABLE recall_marks;
DROP TABLE recall;

PRAGMA user_version = 5;
