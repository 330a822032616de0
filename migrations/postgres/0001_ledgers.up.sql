-- The first schema. It runs as one transaction, as every migration does, and
-- leaves its number in the comment of table heads: see package migrations.
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
-- its checkpoint stays in the row, so that the change touches one page.
CREATE TABLE heads (
    ledger     bigint PRIMARY KEY REFERENCES ledgers,
    size       bigint NOT NULL CHECK (size > 0),
    root       bytea NOT NULL CHECK (octet_length(root) = 32),
    checkpoint bytea NOT NULL
);
ALTER TABLE heads ALTER checkpoint SET STORAGE MAIN;

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
    entry   bytea NOT NULL,
    kept    bytea, -- sealed tape of a commit, openings for auditors at the end, what a co-dealer gave
    PRIMARY KEY (ledger, idx),
    CHECK (num_nonnulls(tbl, serial, key_tag) = CASE type WHEN 2 THEN 3 ELSE 0 END), -- commit
    CHECK ((shuffle IS NOT NULL) = (type IN (3, 4, 5, 8, 11, 12))), -- mix, deal, close, takeover, reveal, disclosure
    CHECK (kept IS NULL OR type IN (2, 4, 5, 12))
);
-- Sealed tapes are ciphertext and entries mostly hashes: compressing them is
-- work for nothing. EXTERNAL never tries, and still moves values out of the row
-- where it would not fit its page; a row of 52 cards always fits.
ALTER TABLE entries ALTER entry SET STORAGE EXTERNAL, ALTER kept SET STORAGE EXTERNAL;

CREATE UNIQUE INDEX entries_key_tag ON entries (ledger, key_tag) WHERE key_tag IS NOT NULL;
CREATE UNIQUE INDEX entries_serial ON entries (ledger, tbl, serial) WHERE serial IS NOT NULL;
CREATE UNIQUE INDEX entries_close ON entries (ledger, shuffle) WHERE type = 5;
CREATE INDEX entries_shuffle ON entries (ledger, shuffle, idx) WHERE shuffle IS NOT NULL;

-- Full tiles of the tree: 256 hashes of 32 bytes.
CREATE TABLE tiles (
    ledger bigint NOT NULL,
    level  smallint NOT NULL CHECK (level >= 0),
    idx    bigint NOT NULL CHECK (idx >= 0),
    data   bytea NOT NULL CHECK (octet_length(data) = 8192),
    PRIMARY KEY (ledger, level, idx)
);
ALTER TABLE tiles ALTER data SET STORAGE EXTERNAL;

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

-- Evidence is insert-only. Statement triggers refuse the attempt even where no
-- row would match, and ALWAYS keeps them in force for replication roles. A role
-- that owns the tables can still drop them: the proofs are the real wall.
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% of % is refused: %', TG_OP, TG_TABLE_NAME, TG_ARGV[0]
        USING ERRCODE = 'insufficient_privilege';
END
$$;

CREATE TRIGGER insert_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledgers
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('evidence is insert-only');
CREATE TRIGGER insert_only BEFORE UPDATE OR DELETE OR TRUNCATE ON entries
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('evidence is insert-only');
CREATE TRIGGER insert_only BEFORE UPDATE OR DELETE OR TRUNCATE ON tiles
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('evidence is insert-only');
CREATE TRIGGER insert_only BEFORE UPDATE OR DELETE OR TRUNCATE ON checkpoints
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('evidence is insert-only');
CREATE TRIGGER insert_only BEFORE UPDATE OR DELETE OR TRUNCATE ON decks
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('evidence is insert-only');
CREATE TRIGGER insert_only BEFORE UPDATE OR DELETE OR TRUNCATE ON terms
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('evidence is insert-only');
CREATE TRIGGER kept BEFORE DELETE OR TRUNCATE ON heads
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('a head stays as long as its ledger');
CREATE TRIGGER grows BEFORE UPDATE ON heads FOR EACH ROW
    WHEN (NEW.ledger <> OLD.ledger OR NEW.size < OLD.size OR NEW.size = OLD.size AND NEW.root <> OLD.root)
    EXECUTE FUNCTION refuse_change('a head only grows');

ALTER TABLE ledgers ENABLE ALWAYS TRIGGER insert_only;
ALTER TABLE entries ENABLE ALWAYS TRIGGER insert_only;
ALTER TABLE tiles ENABLE ALWAYS TRIGGER insert_only;
ALTER TABLE checkpoints ENABLE ALWAYS TRIGGER insert_only;
ALTER TABLE decks ENABLE ALWAYS TRIGGER insert_only;
ALTER TABLE terms ENABLE ALWAYS TRIGGER insert_only;
ALTER TABLE heads ENABLE ALWAYS TRIGGER kept, ENABLE ALWAYS TRIGGER grows;

COMMENT ON TABLE heads IS 'shuffled schema 1';
