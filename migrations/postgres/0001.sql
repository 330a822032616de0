-- The tables. A migration leaves its number in the comment of table heads: see package
-- migrations. What guards the tables, and what not every engine has, is in guards.sql.
--
-- Every key starts with the ledger, so that a ledger can be moved, partitioned or
-- distributed by that column alone. ledgers is the catalogue of them all and a
-- reference table to a distributed engine. Nothing here is a sequence: indexes
-- come from the head.
--
-- Values computed from entry bytes are there for the indexes only. Text sorts by
-- its bytes, as everywhere else in shuffled.

CREATE TABLE ledgers (
    ledger bigint PRIMARY KEY CHECK (ledger >= 0),
    name   text COLLATE "C" NOT NULL UNIQUE,
    origin text COLLATE "C" NOT NULL UNIQUE
);

-- One row per ledger, changed by every append. It has no index but its key, and
-- its checkpoint stays in the row (guards.sql), so that the change touches one page.
CREATE TABLE heads (
    ledger     bigint PRIMARY KEY REFERENCES ledgers,
    size       bigint NOT NULL CHECK (size > 0),
    root       bytea NOT NULL CHECK (octet_length(root) = 32),
    checkpoint bytea NOT NULL
);

-- No foreign key: an append takes the ledger from the head that it moves, and a
-- check per row would cost more than the row. Numbers stand first, where they
-- need no padding.
CREATE TABLE entries (
    ledger  bigint NOT NULL,
    idx     bigint NOT NULL CHECK (idx >= 0),
    time    bigint NOT NULL,
    serial  bigint,
    shuffle bigint,
    type    smallint NOT NULL,
    tbl     text COLLATE "C",
    key_tag bytea CHECK (octet_length(key_tag) = 32),
    game_ref text COLLATE "C",
    entry   bytea NOT NULL,
    kept    bytea, -- sealed tape of a commit, openings for auditors at the end, what a co-dealer gave
    PRIMARY KEY (ledger, idx),
    CHECK (num_nonnulls(tbl, serial, key_tag) = CASE type WHEN 2 THEN 3 ELSE 0 END), -- commit
    CHECK ((shuffle IS NOT NULL) = (type IN (3, 4, 5, 8, 11, 12))), -- mix, deal, close, takeover, reveal, disclosure
    CHECK (game_ref IS NULL OR type = 2),
    CHECK (kept IS NULL OR type IN (2, 4, 5, 12))
);
CREATE UNIQUE INDEX entries_key_tag ON entries (ledger, key_tag) WHERE key_tag IS NOT NULL;
CREATE UNIQUE INDEX entries_serial ON entries (ledger, tbl, serial) WHERE serial IS NOT NULL;
CREATE UNIQUE INDEX entries_close ON entries (ledger, shuffle) WHERE type = 5;
CREATE INDEX entries_shuffle ON entries (ledger, shuffle, idx) WHERE shuffle IS NOT NULL;
CREATE INDEX entries_game_ref ON entries (ledger, game_ref, idx) WHERE game_ref IS NOT NULL;

-- Full tiles of the tree: 256 hashes of 32 bytes.
CREATE TABLE tiles (
    ledger bigint NOT NULL,
    level  smallint NOT NULL CHECK (level >= 0),
    idx    bigint NOT NULL CHECK (idx >= 0),
    data   bytea NOT NULL CHECK (octet_length(data) = 8192),
    PRIMARY KEY (ledger, level, idx)
);

-- Every head there was.
CREATE TABLE checkpoints (
    ledger     bigint NOT NULL,
    size       bigint NOT NULL,
    root       bytea NOT NULL CHECK (octet_length(root) = 32),
    checkpoint bytea NOT NULL,
    PRIMARY KEY (ledger, size)
);

CREATE TABLE decks (
    ledger bigint NOT NULL REFERENCES ledgers,
    hash   bytea NOT NULL CHECK (octet_length(hash) = 32),
    cards  bytea NOT NULL,
    PRIMARY KEY (ledger, hash)
);

-- Documents that say what values mean, under their hashes: 1 wheel, 2 pay table.
CREATE TABLE terms (
    ledger bigint NOT NULL REFERENCES ledgers,
    hash   bytea NOT NULL CHECK (octet_length(hash) = 32),
    kind   smallint NOT NULL CHECK (kind IN (1, 2)),
    bytes  bytea NOT NULL CHECK (octet_length(bytes) BETWEEN 1 AND 65536),
    PRIMARY KEY (ledger, hash)
);

-- Cosigned checkpoints: those heads for which a quorum of witnesses answered, with
-- the cosignatures.
CREATE TABLE cosigned (
    ledger     bigint NOT NULL REFERENCES ledgers,
    size       bigint NOT NULL CHECK (size > 0),
    root       bytea NOT NULL CHECK (octet_length(root) = 32),
    checkpoint bytea NOT NULL,
    PRIMARY KEY (ledger, size)
);

-- Late checkpoints: cosigned ones, with the cosignatures of witnesses that are asked at an
-- interval.
CREATE TABLE late (
    ledger     bigint NOT NULL REFERENCES ledgers,
    size       bigint NOT NULL CHECK (size > 0),
    root       bytea NOT NULL CHECK (octet_length(root) = 32),
    checkpoint bytea NOT NULL,
    PRIMARY KEY (ledger, size)
);

-- Signed statements of auditors about shuffles whose tapes they opened (docs/SPEC.md
-- section 8.1), by shuffle in the order in which they came. Under the index of a
-- shuffle's close, which is no shuffle: the close of its co-dealer's order.
CREATE TABLE statements (
    ledger  bigint NOT NULL REFERENCES ledgers,
    shuffle bigint NOT NULL CHECK (shuffle > 0),
    n       smallint NOT NULL CHECK (n BETWEEN 0 AND 7),
    note    bytea NOT NULL CHECK (octet_length(note) <= 131072),
    PRIMARY KEY (ledger, shuffle, n)
);

-- Every slot hash that stands in a commit, which it may only once in a ledger. idx
-- is the commit. No foreign key, as in entries. Insert-only like the evidence from
-- which they are computed: a slot that is removed could be used again.
CREATE TABLE slots (
    ledger bigint NOT NULL,
    slot   bytea NOT NULL CHECK (octet_length(slot) = 32),
    idx    bigint NOT NULL CHECK (idx > 0),
    PRIMARY KEY (ledger, slot)
);

CREATE INDEX slots_idx ON slots (ledger, idx); -- for those who hold them against the entries

-- What regulators asked for, kept before they are answered: a chain, in which each
-- record has the next number and the hash of the one before (docs/operations, Access
-- records). No evidence: records are removed when their time is over, but none is changed.
CREATE TABLE access_records (
    ledger  bigint NOT NULL REFERENCES ledgers,
    seq     bigint NOT NULL CHECK (seq > 0),
    time    bigint NOT NULL,
    prev    bytea NOT NULL CHECK (octet_length(prev) = 32),
    request text COLLATE "C" NOT NULL,
    token   text COLLATE "C" NOT NULL,
    method  text COLLATE "C" NOT NULL,
    path    text COLLATE "C" NOT NULL CHECK (octet_length(path) <= 500),
    PRIMARY KEY (ledger, time, request)
);
CREATE UNIQUE INDEX access_records_seq ON access_records (ledger, seq);

COMMENT ON TABLE heads IS 'shuffled/v1 schema 1 without guards';
