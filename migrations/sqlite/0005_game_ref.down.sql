-- Refused while there are entries, as in 0001.
CREATE TABLE migrating_down (ledger INTEGER) STRICT;
CREATE TRIGGER entries_stay BEFORE INSERT ON migrating_down
BEGIN SELECT RAISE(ABORT, 'the database holds entries: evidence is never migrated away'); END;
INSERT INTO migrating_down SELECT ledger FROM entries LIMIT 1;

DROP TABLE migrating_down;
DROP INDEX entries_game_ref;
ALTER TABLE entries DROP COLUMN game_ref;

CREATE TABLE recall (
    ledger    INTEGER NOT NULL,
    id        INTEGER NOT NULL,
    serial    INTEGER NOT NULL,
    committed INTEGER NOT NULL,
    close_by  INTEGER NOT NULL,
    parent    INTEGER, -- NULL: none
    closed    INTEGER, -- NULL: open
    outcome   INTEGER,
    reason    INTEGER,
    draw      INTEGER NOT NULL CHECK (draw IN (0, 1)),
    tbl       TEXT NOT NULL,
    game_ref  TEXT, -- NULL: none
    PRIMARY KEY (ledger, id),
    CHECK ((closed IS NOT NULL) + (outcome IS NOT NULL) + (reason IS NOT NULL) IN (0, 3))
) STRICT, WITHOUT ROWID;

CREATE INDEX recall_tbl ON recall (ledger, tbl, id);
CREATE INDEX recall_game_ref ON recall (ledger, game_ref, id) WHERE game_ref IS NOT NULL;
CREATE INDEX recall_committed ON recall (ledger, committed, id);
CREATE INDEX recall_open ON recall (ledger, id) WHERE closed IS NULL;
CREATE INDEX recall_closed ON recall (ledger, closed, id) WHERE closed IS NOT NULL;

CREATE TABLE recall_marks (
    ledger  INTEGER PRIMARY KEY REFERENCES ledgers,
    next    INTEGER NOT NULL CHECK (next >= 0),
    dropped INTEGER NOT NULL CHECK (dropped >= 0)
) STRICT;

PRAGMA user_version = 4;
