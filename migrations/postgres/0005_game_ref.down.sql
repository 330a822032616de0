-- Refused while there are entries, as in 0001.
LOCK TABLE entries IN ACCESS EXCLUSIVE MODE;
DO $$
BEGIN
    IF EXISTS (SELECT FROM entries) THEN
        RAISE EXCEPTION 'the database holds entries: evidence is never migrated away'
            USING ERRCODE = 'insufficient_privilege';
    END IF;
END
$$;

ALTER TABLE entries DROP COLUMN game_ref; -- and its index

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

CREATE INDEX recall_tbl ON recall (ledger, tbl, id);
CREATE INDEX recall_game_ref ON recall (ledger, game_ref, id) WHERE game_ref IS NOT NULL;
CREATE INDEX recall_committed ON recall (ledger, committed, id);
CREATE INDEX recall_open ON recall (ledger, id) WHERE closed IS NULL;
CREATE INDEX recall_closed ON recall (ledger, closed, id) WHERE closed IS NOT NULL;

CREATE TABLE recall_marks (
    ledger  bigint PRIMARY KEY REFERENCES ledgers,
    next    bigint NOT NULL CHECK (next >= 0),
    dropped bigint NOT NULL CHECK (dropped >= 0)
);

COMMENT ON TABLE heads IS 'shuffled schema 4';
