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

DROP TABLE statements, cosigned;

COMMENT ON TABLE heads IS 'shuffled schema 1';
