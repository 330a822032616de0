-- Recall asks the entries themselves: its table goes, with the second write behind
-- every append. What no index of the entries led to was the game reference: it
-- becomes a column. The daemons are stopped for this migration: one of the version
-- before would go on over its open connections, and keep no game references.

-- One more value that is computed from entry bytes, and held against them by fsck.
ALTER TABLE entries ADD COLUMN game_ref text COLLATE "C" CHECK (game_ref IS NULL OR type = 2);

-- The game references of the commits that are there stand in recall, if it was not
-- behind and retention dropped nothing.
DO $$
BEGIN
    IF EXISTS (SELECT FROM entries e WHERE e.type = 2
               AND NOT EXISTS (SELECT FROM recall r WHERE r.ledger = e.ledger AND r.id = e.idx)) THEN
        RAISE EXCEPTION 'recall does not hold all commits, from which their game references are taken: make it whole first, see docs/OPERATIONS.md, Migrations';
    END IF;
END
$$;

-- The only change that evidence ever sees: a column is filled that was not there.
ALTER TABLE entries DISABLE TRIGGER insert_only;
UPDATE entries e SET game_ref = r.game_ref
FROM recall r WHERE r.ledger = e.ledger AND r.id = e.idx AND r.game_ref IS NOT NULL;
ALTER TABLE entries ENABLE ALWAYS TRIGGER insert_only;

CREATE INDEX entries_game_ref ON entries (ledger, game_ref, idx) WHERE game_ref IS NOT NULL;

DROP TABLE recall_marks, recall;

COMMENT ON TABLE heads IS 'shuffled schema 5';
