-- Slots, accesses of regulators, and recall. The daemons are
-- stopped for this migration: one of the version before would go on over its open
-- connections, and keep no slots.

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

CREATE TRIGGER insert_only BEFORE UPDATE OR DELETE OR TRUNCATE ON slots
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('evidence is insert-only');
ALTER TABLE slots ENABLE ALWAYS TRIGGER insert_only;

-- What regulators asked for, kept before they are answered. No evidence: records
-- are removed when their time is over, but none is changed.
CREATE TABLE access_records (
    ledger  bigint NOT NULL REFERENCES ledgers,
    time    bigint NOT NULL,
    request text COLLATE "C" NOT NULL,
    token   text COLLATE "C" NOT NULL,
    method  text COLLATE "C" NOT NULL,
    path    text COLLATE "C" NOT NULL CHECK (octet_length(path) <= 500),
    PRIMARY KEY (ledger, time, request)
);

CREATE TRIGGER unchanged BEFORE UPDATE OR TRUNCATE ON access_records
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('a record is kept or dropped, not changed');
ALTER TABLE access_records ENABLE ALWAYS TRIGGER unchanged;

-- An index of shuffles alongside the evidence, computed from the entries some time
-- after they were appended, so that no append waits for it. It may be removed as
-- it stands, and is then made again: DELETE FROM recall_marks makes it begin anew.
-- Ids and times of commits grow together. No foreign key: the mark, which is
-- written with every row, has one.
CREATE TABLE recall (
    ledger    bigint NOT NULL,
    id        bigint NOT NULL,
    serial    bigint NOT NULL,
    committed bigint NOT NULL,
    close_by  bigint NOT NULL,
    parent    bigint, -- NULL: none
    closed    bigint, -- NULL: open
    outcome   smallint,
    reason    smallint,
    draw      boolean NOT NULL,
    tbl       text COLLATE "C" NOT NULL,
    game_ref  text COLLATE "C", -- NULL: none
    PRIMARY KEY (ledger, id),
    CHECK (num_nonnulls(closed, outcome, reason) IN (0, 3))
);

-- One for each question, in the order of the answer, so that a page costs what it
-- holds.
CREATE INDEX recall_tbl ON recall (ledger, tbl, id);
CREATE INDEX recall_serial ON recall (ledger, tbl, serial, id);
CREATE INDEX recall_game_ref ON recall (ledger, game_ref, id) WHERE game_ref IS NOT NULL;
CREATE INDEX recall_committed ON recall (ledger, committed, id);
CREATE INDEX recall_open ON recall (ledger, id) WHERE closed IS NULL;
CREATE INDEX recall_closed ON recall (ledger, closed, id) WHERE closed IS NOT NULL; -- for retention

-- How far recall has come: entries below next are in it. Of shuffles closed before
-- the time dropped it keeps none, also when it is made again.
CREATE TABLE recall_marks (
    ledger  bigint PRIMARY KEY REFERENCES ledgers,
    next    bigint NOT NULL CHECK (next >= 0),
    dropped bigint NOT NULL CHECK (dropped >= 0)
);

COMMENT ON TABLE heads IS 'shuffled schema 3';
