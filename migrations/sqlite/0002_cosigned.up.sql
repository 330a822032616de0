-- Cosigned checkpoints, as in migrations/postgres.
CREATE TABLE cosigned (
    ledger     INTEGER NOT NULL REFERENCES ledgers,
    size       INTEGER NOT NULL CHECK (size > 0),
    root       BLOB NOT NULL CHECK (length(root) = 32),
    checkpoint BLOB NOT NULL,
    PRIMARY KEY (ledger, size)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER cosigned_no_update BEFORE UPDATE ON cosigned
BEGIN SELECT RAISE(ABORT, 'UPDATE of cosigned is refused: evidence is insert-only'); END;
CREATE TRIGGER cosigned_no_delete BEFORE DELETE ON cosigned
BEGIN SELECT RAISE(ABORT, 'DELETE of cosigned is refused: evidence is insert-only'); END;
CREATE TRIGGER cosigned_no_replace BEFORE INSERT ON cosigned
WHEN EXISTS (SELECT 1 FROM cosigned WHERE ledger = NEW.ledger AND size = NEW.size)
BEGIN SELECT RAISE(ABORT, 'INSERT into cosigned is refused: the key is taken'); END;

PRAGMA user_version = 2;
