-- Slots, accesses of regulators, and recall, as in
-- migrations/postgres.
CREATE TABLE slots (
    ledger INTEGER NOT NULL,
    slot   BLOB NOT NULL CHECK (length(slot) = 32),
    idx    INTEGER NOT NULL CHECK (idx > 0),
    PRIMARY KEY (ledger, slot)
) STRICT, WITHOUT ROWID;

CREATE INDEX slots_idx ON slots (ledger, idx); -- for those who hold them against the entries

CREATE TRIGGER slots_no_update BEFORE UPDATE ON slots
BEGIN SELECT RAISE(ABORT, 'UPDATE of slots is refused: evidence is insert-only'); END;
CREATE TRIGGER slots_no_delete BEFORE DELETE ON slots
BEGIN SELECT RAISE(ABORT, 'DELETE of slots is refused: evidence is insert-only'); END;
CREATE TRIGGER slots_no_replace BEFORE INSERT ON slots
WHEN EXISTS (SELECT 1 FROM slots WHERE ledger = NEW.ledger AND slot = NEW.slot)
BEGIN SELECT RAISE(ABORT, 'INSERT into slots is refused: the key is taken'); END;

CREATE TABLE access_records (
    ledger  INTEGER NOT NULL REFERENCES ledgers,
    time    INTEGER NOT NULL,
    request TEXT NOT NULL,
    token   TEXT NOT NULL,
    method  TEXT NOT NULL,
    path    TEXT NOT NULL CHECK (length(CAST(path AS BLOB)) <= 500),
    PRIMARY KEY (ledger, time, request)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER access_records_no_update BEFORE UPDATE ON access_records
BEGIN SELECT RAISE(ABORT, 'UPDATE of access_records is refused: a record is kept or dropped, not changed'); END;
CREATE TRIGGER access_records_no_replace BEFORE INSERT ON access_records
WHEN EXISTS (SELECT 1 FROM access_records WHERE ledger = NEW.ledger AND time = NEW.time AND request = NEW.request)
BEGIN SELECT RAISE(ABORT, 'INSERT into access_records is refused: the key is taken'); END;

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
CREATE INDEX recall_serial ON recall (ledger, tbl, serial, id);
CREATE INDEX recall_game_ref ON recall (ledger, game_ref, id) WHERE game_ref IS NOT NULL;
CREATE INDEX recall_committed ON recall (ledger, committed, id);
CREATE INDEX recall_open ON recall (ledger, id) WHERE closed IS NULL;
CREATE INDEX recall_closed ON recall (ledger, closed, id) WHERE closed IS NOT NULL; -- for retention

CREATE TABLE recall_marks (
    ledger  INTEGER PRIMARY KEY REFERENCES ledgers,
    next    INTEGER NOT NULL CHECK (next >= 0),
    dropped INTEGER NOT NULL CHECK (dropped >= 0)
) STRICT;

PRAGMA user_version = 3;
