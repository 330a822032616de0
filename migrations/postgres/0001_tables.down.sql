-- Refused while there are entries. The lock keeps any from coming between the
-- look and the end of this transaction.
LOCK TABLE entries IN ACCESS EXCLUSIVE MODE;
DO $$
BEGIN
    IF EXISTS (SELECT FROM entries) THEN
        RAISE EXCEPTION 'the database holds entries: evidence is never migrated away'
            USING ERRCODE = 'insufficient_privilege';
    END IF;
END
$$;

DROP TABLE access_records, slots, statements, late, cosigned, terms, decks, checkpoints, tiles, entries, heads, ledgers;
