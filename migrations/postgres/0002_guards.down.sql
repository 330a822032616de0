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

DROP TRIGGER IF EXISTS insert_only ON ledgers;
DROP TRIGGER IF EXISTS insert_only ON entries;
DROP TRIGGER IF EXISTS insert_only ON tiles;
DROP TRIGGER IF EXISTS insert_only ON checkpoints;
DROP TRIGGER IF EXISTS insert_only ON cosigned;
DROP TRIGGER IF EXISTS insert_only ON late;
DROP TRIGGER IF EXISTS insert_only ON decks;
DROP TRIGGER IF EXISTS insert_only ON terms;
DROP TRIGGER IF EXISTS insert_only ON slots;
DROP TRIGGER IF EXISTS insert_only ON statements;
DROP TRIGGER IF EXISTS kept ON heads;
DROP TRIGGER IF EXISTS grows ON heads;
DROP TRIGGER IF EXISTS unchanged ON access_records;
DROP TRIGGER IF EXISTS guard ON access_records;
DROP TRIGGER IF EXISTS guard ON tiles;
DROP TRIGGER IF EXISTS guard ON checkpoints;
DROP TRIGGER IF EXISTS guard ON entries;
DROP TRIGGER IF EXISTS guard ON heads;
DROP FUNCTION IF EXISTS guard_access(), guard_sizes(), guard_entries(), guard_head(), refuse_change();
ALTER TABLE heads ALTER checkpoint SET STORAGE EXTENDED;
ALTER TABLE tiles ALTER data SET STORAGE EXTENDED;
ALTER TABLE entries ALTER entry SET STORAGE EXTENDED, ALTER kept SET STORAGE EXTENDED;

COMMENT ON TABLE heads IS 'shuffled schema 1';
