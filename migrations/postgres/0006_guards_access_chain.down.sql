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

DROP TRIGGER guard ON access_records;
DROP TRIGGER guard ON tiles;
DROP TRIGGER guard ON checkpoints;
DROP TRIGGER guard ON entries;
DROP TRIGGER guard ON heads;
DROP FUNCTION guard_access(), guard_sizes(), guard_entries(), guard_head();
ALTER TABLE access_records DROP COLUMN seq, DROP COLUMN prev;

COMMENT ON TABLE heads IS 'shuffled schema 5';
