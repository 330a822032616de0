-- The tables and what guards them: those of migrations/postgres, in SQLite's words. A
-- migration leaves its number in user_version: see package migrations.

CREATE TABLE ledgers (
    ledger INTEGER PRIMARY KEY CHECK (ledger >= 0),
    name   TEXT NOT NULL UNIQUE,
    origin TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE heads (
    ledger     INTEGER PRIMARY KEY REFERENCES ledgers,
    size       INTEGER NOT NULL CHECK (size > 0),
    root       BLOB NOT NULL CHECK (length(root) = 32),
    checkpoint BLOB NOT NULL
) STRICT;

-- The long values stand last: a reader of the others need not pass them. Rows of
-- this length are better kept by rowid than in the tree of their key.
CREATE TABLE entries (
    ledger  INTEGER NOT NULL,
    idx     INTEGER NOT NULL CHECK (idx >= 0),
    time    INTEGER NOT NULL,
    serial  INTEGER,
    shuffle INTEGER,
    type    INTEGER NOT NULL,
    tbl     TEXT,
    key_tag BLOB CHECK (length(key_tag) = 32),
    game_ref TEXT,
    entry   BLOB NOT NULL,
    kept    BLOB, -- sealed tape of a commit, openings for auditors at the end, what a co-dealer gave
    PRIMARY KEY (ledger, idx),
    CHECK ((tbl IS NOT NULL) + (serial IS NOT NULL) + (key_tag IS NOT NULL) = CASE type WHEN 2 THEN 3 ELSE 0 END), -- commit
    CHECK ((shuffle IS NOT NULL) = (type IN (3, 4, 5, 8, 11, 12))), -- mix, deal, close, takeover, reveal, disclosure
    CHECK (game_ref IS NULL OR type = 2),
    CHECK (kept IS NULL OR type IN (2, 4, 5, 12))
) STRICT;

CREATE UNIQUE INDEX entries_key_tag ON entries (ledger, key_tag) WHERE key_tag IS NOT NULL;
CREATE UNIQUE INDEX entries_serial ON entries (ledger, tbl, serial) WHERE serial IS NOT NULL;
CREATE UNIQUE INDEX entries_close ON entries (ledger, shuffle) WHERE type = 5;
CREATE INDEX entries_shuffle ON entries (ledger, shuffle, idx) WHERE shuffle IS NOT NULL;
CREATE INDEX entries_game_ref ON entries (ledger, game_ref, idx) WHERE game_ref IS NOT NULL;

CREATE TABLE tiles (
    ledger INTEGER NOT NULL,
    level  INTEGER NOT NULL CHECK (level >= 0),
    idx    INTEGER NOT NULL CHECK (idx >= 0),
    data   BLOB NOT NULL CHECK (length(data) = 8192),
    PRIMARY KEY (ledger, level, idx)
) STRICT, WITHOUT ROWID;

CREATE TABLE checkpoints (
    ledger     INTEGER NOT NULL,
    size       INTEGER NOT NULL,
    root       BLOB NOT NULL CHECK (length(root) = 32),
    checkpoint BLOB NOT NULL,
    PRIMARY KEY (ledger, size)
) STRICT, WITHOUT ROWID;

CREATE TABLE decks (
    ledger INTEGER NOT NULL REFERENCES ledgers,
    hash   BLOB NOT NULL CHECK (length(hash) = 32),
    cards  BLOB NOT NULL,
    PRIMARY KEY (ledger, hash)
) STRICT, WITHOUT ROWID;

-- Documents that say what values mean, under their hashes: 1 wheel, 2 pay table.
CREATE TABLE terms (
    ledger INTEGER NOT NULL REFERENCES ledgers,
    hash   BLOB NOT NULL CHECK (length(hash) = 32),
    kind   INTEGER NOT NULL CHECK (kind IN (1, 2)),
    bytes  BLOB NOT NULL CHECK (length(bytes) BETWEEN 1 AND 65536),
    PRIMARY KEY (ledger, hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE cosigned (
    ledger     INTEGER NOT NULL REFERENCES ledgers,
    size       INTEGER NOT NULL CHECK (size > 0),
    root       BLOB NOT NULL CHECK (length(root) = 32),
    checkpoint BLOB NOT NULL,
    PRIMARY KEY (ledger, size)
) STRICT, WITHOUT ROWID;

CREATE TABLE late (
    ledger     INTEGER NOT NULL REFERENCES ledgers,
    size       INTEGER NOT NULL CHECK (size > 0),
    root       BLOB NOT NULL CHECK (length(root) = 32),
    checkpoint BLOB NOT NULL,
    PRIMARY KEY (ledger, size)
) STRICT, WITHOUT ROWID;

CREATE TABLE statements (
    ledger  INTEGER NOT NULL REFERENCES ledgers,
    shuffle INTEGER NOT NULL CHECK (shuffle > 0),
    n       INTEGER NOT NULL CHECK (n BETWEEN 0 AND 7),
    note    BLOB NOT NULL CHECK (length(note) <= 131072),
    PRIMARY KEY (ledger, shuffle, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE slots (
    ledger INTEGER NOT NULL,
    slot   BLOB NOT NULL CHECK (length(slot) = 32),
    idx    INTEGER NOT NULL CHECK (idx > 0),
    PRIMARY KEY (ledger, slot)
) STRICT, WITHOUT ROWID;

CREATE INDEX slots_idx ON slots (ledger, idx); -- for those who hold them against the entries

CREATE TABLE access_records (
    ledger  INTEGER NOT NULL REFERENCES ledgers,
    seq     INTEGER NOT NULL CHECK (seq > 0),
    time    INTEGER NOT NULL,
    prev    BLOB NOT NULL CHECK (length(prev) = 32),
    request TEXT NOT NULL,
    token   TEXT NOT NULL,
    method  TEXT NOT NULL,
    path    TEXT NOT NULL CHECK (length(CAST(path AS BLOB)) <= 500),
    PRIMARY KEY (ledger, time, request)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX access_records_seq ON access_records (ledger, seq);

-- Evidence is insert-only. INSERT OR REPLACE is a deletion that fires no trigger
-- of DELETE: it is refused before it begins, like every row whose key is taken,
-- the rowid included. Who can write the file can also drop a trigger: the proofs
-- are the real wall.

CREATE TRIGGER ledgers_no_update BEFORE UPDATE ON ledgers
BEGIN SELECT RAISE(ABORT, 'UPDATE of ledgers is refused: evidence is insert-only'); END;
CREATE TRIGGER ledgers_no_delete BEFORE DELETE ON ledgers
BEGIN SELECT RAISE(ABORT, 'DELETE of ledgers is refused: evidence is insert-only'); END;
CREATE TRIGGER entries_no_update BEFORE UPDATE ON entries
BEGIN SELECT RAISE(ABORT, 'UPDATE of entries is refused: evidence is insert-only'); END;
CREATE TRIGGER entries_no_delete BEFORE DELETE ON entries
BEGIN SELECT RAISE(ABORT, 'DELETE of entries is refused: evidence is insert-only'); END;
CREATE TRIGGER tiles_no_update BEFORE UPDATE ON tiles
BEGIN SELECT RAISE(ABORT, 'UPDATE of tiles is refused: evidence is insert-only'); END;
CREATE TRIGGER tiles_no_delete BEFORE DELETE ON tiles
BEGIN SELECT RAISE(ABORT, 'DELETE of tiles is refused: evidence is insert-only'); END;
CREATE TRIGGER checkpoints_no_update BEFORE UPDATE ON checkpoints
BEGIN SELECT RAISE(ABORT, 'UPDATE of checkpoints is refused: evidence is insert-only'); END;
CREATE TRIGGER checkpoints_no_delete BEFORE DELETE ON checkpoints
BEGIN SELECT RAISE(ABORT, 'DELETE of checkpoints is refused: evidence is insert-only'); END;
CREATE TRIGGER decks_no_update BEFORE UPDATE ON decks
BEGIN SELECT RAISE(ABORT, 'UPDATE of decks is refused: evidence is insert-only'); END;
CREATE TRIGGER decks_no_delete BEFORE DELETE ON decks
BEGIN SELECT RAISE(ABORT, 'DELETE of decks is refused: evidence is insert-only'); END;
CREATE TRIGGER terms_no_update BEFORE UPDATE ON terms
BEGIN SELECT RAISE(ABORT, 'UPDATE of terms is refused: evidence is insert-only'); END;
CREATE TRIGGER terms_no_delete BEFORE DELETE ON terms
BEGIN SELECT RAISE(ABORT, 'DELETE of terms is refused: evidence is insert-only'); END;

CREATE TRIGGER heads_no_delete BEFORE DELETE ON heads
BEGIN SELECT RAISE(ABORT, 'DELETE of heads is refused: a head stays as long as its ledger'); END;
CREATE TRIGGER heads_grow BEFORE UPDATE ON heads
WHEN NEW.ledger <> OLD.ledger OR NEW.size < OLD.size OR NEW.size = OLD.size AND NEW.root <> OLD.root
BEGIN SELECT RAISE(ABORT, 'UPDATE of heads is refused: a head only grows'); END;

CREATE TRIGGER ledgers_no_replace BEFORE INSERT ON ledgers
WHEN EXISTS (SELECT 1 FROM ledgers WHERE ledger = NEW.ledger)
    OR EXISTS (SELECT 1 FROM ledgers WHERE name = NEW.name)
    OR EXISTS (SELECT 1 FROM ledgers WHERE origin = NEW.origin)
BEGIN SELECT RAISE(ABORT, 'INSERT into ledgers is refused: the key is taken'); END;
CREATE TRIGGER heads_no_replace BEFORE INSERT ON heads
WHEN EXISTS (SELECT 1 FROM heads WHERE ledger = NEW.ledger)
BEGIN SELECT RAISE(ABORT, 'INSERT into heads is refused: the key is taken'); END;
CREATE TRIGGER entries_no_replace BEFORE INSERT ON entries
WHEN EXISTS (SELECT 1 FROM entries WHERE ledger = NEW.ledger AND idx = NEW.idx)
    OR EXISTS (SELECT 1 FROM entries WHERE rowid = NEW.rowid)
    OR EXISTS (SELECT 1 FROM entries WHERE ledger = NEW.ledger AND key_tag = NEW.key_tag)
    OR EXISTS (SELECT 1 FROM entries WHERE ledger = NEW.ledger AND tbl = NEW.tbl AND serial = NEW.serial)
    OR NEW.type = 5 AND EXISTS (SELECT 1 FROM entries WHERE type = 5 AND ledger = NEW.ledger AND shuffle = NEW.shuffle)
BEGIN SELECT RAISE(ABORT, 'INSERT into entries is refused: the key is taken'); END;
CREATE TRIGGER tiles_no_replace BEFORE INSERT ON tiles
WHEN EXISTS (SELECT 1 FROM tiles WHERE ledger = NEW.ledger AND level = NEW.level AND idx = NEW.idx)
BEGIN SELECT RAISE(ABORT, 'INSERT into tiles is refused: the key is taken'); END;
CREATE TRIGGER checkpoints_no_replace BEFORE INSERT ON checkpoints
WHEN EXISTS (SELECT 1 FROM checkpoints WHERE ledger = NEW.ledger AND size = NEW.size)
BEGIN SELECT RAISE(ABORT, 'INSERT into checkpoints is refused: the key is taken'); END;
CREATE TRIGGER decks_no_replace BEFORE INSERT ON decks
WHEN EXISTS (SELECT 1 FROM decks WHERE ledger = NEW.ledger AND hash = NEW.hash)
BEGIN SELECT RAISE(ABORT, 'INSERT into decks is refused: the key is taken'); END;
CREATE TRIGGER terms_no_replace BEFORE INSERT ON terms
WHEN EXISTS (SELECT 1 FROM terms WHERE ledger = NEW.ledger AND hash = NEW.hash)
BEGIN SELECT RAISE(ABORT, 'INSERT into terms is refused: the key is taken'); END;

CREATE TRIGGER cosigned_no_update BEFORE UPDATE ON cosigned
BEGIN SELECT RAISE(ABORT, 'UPDATE of cosigned is refused: evidence is insert-only'); END;
CREATE TRIGGER cosigned_no_delete BEFORE DELETE ON cosigned
BEGIN SELECT RAISE(ABORT, 'DELETE of cosigned is refused: evidence is insert-only'); END;
CREATE TRIGGER cosigned_no_replace BEFORE INSERT ON cosigned
WHEN EXISTS (SELECT 1 FROM cosigned WHERE ledger = NEW.ledger AND size = NEW.size)
BEGIN SELECT RAISE(ABORT, 'INSERT into cosigned is refused: the key is taken'); END;

CREATE TRIGGER late_no_update BEFORE UPDATE ON late
BEGIN SELECT RAISE(ABORT, 'UPDATE of late is refused: evidence is insert-only'); END;
CREATE TRIGGER late_no_delete BEFORE DELETE ON late
BEGIN SELECT RAISE(ABORT, 'DELETE of late is refused: evidence is insert-only'); END;
CREATE TRIGGER late_no_replace BEFORE INSERT ON late
WHEN EXISTS (SELECT 1 FROM late WHERE ledger = NEW.ledger AND size = NEW.size)
BEGIN SELECT RAISE(ABORT, 'INSERT into late is refused: the key is taken'); END;

CREATE TRIGGER statements_no_update BEFORE UPDATE ON statements
BEGIN SELECT RAISE(ABORT, 'UPDATE of statements is refused: evidence is insert-only'); END;
CREATE TRIGGER statements_no_delete BEFORE DELETE ON statements
BEGIN SELECT RAISE(ABORT, 'DELETE of statements is refused: evidence is insert-only'); END;
CREATE TRIGGER statements_no_replace BEFORE INSERT ON statements
WHEN EXISTS (SELECT 1 FROM statements WHERE ledger = NEW.ledger AND shuffle = NEW.shuffle AND n = NEW.n)
BEGIN SELECT RAISE(ABORT, 'INSERT into statements is refused: the key is taken'); END;

CREATE TRIGGER slots_no_update BEFORE UPDATE ON slots
BEGIN SELECT RAISE(ABORT, 'UPDATE of slots is refused: evidence is insert-only'); END;
CREATE TRIGGER slots_no_delete BEFORE DELETE ON slots
BEGIN SELECT RAISE(ABORT, 'DELETE of slots is refused: evidence is insert-only'); END;
CREATE TRIGGER slots_no_replace BEFORE INSERT ON slots
WHEN EXISTS (SELECT 1 FROM slots WHERE ledger = NEW.ledger AND slot = NEW.slot)
BEGIN SELECT RAISE(ABORT, 'INSERT into slots is refused: the key is taken'); END;

CREATE TRIGGER access_records_no_update BEFORE UPDATE ON access_records
BEGIN SELECT RAISE(ABORT, 'UPDATE of access_records is refused: a record is kept or dropped, not changed'); END;
CREATE TRIGGER access_records_no_replace BEFORE INSERT ON access_records
WHEN EXISTS (SELECT 1 FROM access_records WHERE ledger = NEW.ledger AND time = NEW.time AND request = NEW.request)
BEGIN SELECT RAISE(ABORT, 'INSERT into access_records is refused: the key is taken'); END;
CREATE TRIGGER access_records_chain BEFORE INSERT ON access_records
WHEN NEW.seq IS NOT coalesce((SELECT max(seq) FROM access_records WHERE ledger = NEW.ledger), 0) + 1
BEGIN SELECT RAISE(ABORT, 'INSERT into access_records is refused: it is not the next number'); END;

PRAGMA user_version = 0x76310001; -- "v1" and the number
