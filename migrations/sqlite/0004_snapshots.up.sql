-- Snapshots, as in migrations/postgres.
CREATE TABLE snapshots (
    ledger INTEGER NOT NULL REFERENCES ledgers,
    idx    INTEGER NOT NULL CHECK (idx > 0),
    state  BLOB NOT NULL,
    PRIMARY KEY (ledger, idx)
) STRICT;

CREATE TRIGGER snapshots_no_update BEFORE UPDATE ON snapshots
BEGIN SELECT RAISE(ABORT, 'UPDATE of snapshots is refused: a snapshot is kept or dropped, not changed'); END;
CREATE TRIGGER snapshots_no_replace BEFORE INSERT ON snapshots
WHEN EXISTS (SELECT 1 FROM snapshots WHERE ledger = NEW.ledger AND idx = NEW.idx)
BEGIN SELECT RAISE(ABORT, 'INSERT into snapshots is refused: the key is taken'); END;

-- As in migrations/postgres.
DROP INDEX recall_serial;

PRAGMA user_version = 4;
