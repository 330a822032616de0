-- The tables: those of migrations/postgres, in SQLite's words. A migration runs
-- as one transaction, and leaves its number in user_version: see package migrations.

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
    note    BLOB NOT NULL CHECK (length(note) <= 16384),
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

PRAGMA user_version = 1;
