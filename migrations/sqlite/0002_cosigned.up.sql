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

-- Signed statements of auditors, as in migrations/postgres.
CREATE TABLE statements (
    ledger  INTEGER NOT NULL REFERENCES ledgers,
    shuffle INTEGER NOT NULL CHECK (shuffle > 0),
    n       INTEGER NOT NULL CHECK (n BETWEEN 0 AND 7),
    note    BLOB NOT NULL CHECK (length(note) <= 16384),
    PRIMARY KEY (ledger, shuffle, n)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER statements_no_update BEFORE UPDATE ON statements
BEGIN SELECT RAISE(ABORT, 'UPDATE of statements is refused: evidence is insert-only'); END;
CREATE TRIGGER statements_no_delete BEFORE DELETE ON statements
BEGIN SELECT RAISE(ABORT, 'DELETE of statements is refused: evidence is insert-only'); END;
CREATE TRIGGER statements_no_replace BEFORE INSERT ON statements
WHEN EXISTS (SELECT 1 FROM statements WHERE ledger = NEW.ledger AND shuffle = NEW.shuffle AND n = NEW.n)
BEGIN SELECT RAISE(ABORT, 'INSERT into statements is refused: the key is taken'); END;

PRAGMA user_version = 2;
