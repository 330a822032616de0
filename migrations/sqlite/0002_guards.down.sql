-- Refused while there are entries, as in 0001.
CREATE TABLE migrating_down (ledger INTEGER) STRICT;
CREATE TRIGGER entries_stay BEFORE INSERT ON migrating_down
BEGIN SELECT RAISE(ABORT, 'the database holds entries: evidence is never migrated away'); END;
INSERT INTO migrating_down SELECT ledger FROM entries LIMIT 1;

DROP TABLE migrating_down;
DROP TRIGGER ledgers_no_update;
DROP TRIGGER ledgers_no_delete;
DROP TRIGGER entries_no_update;
DROP TRIGGER entries_no_delete;
DROP TRIGGER tiles_no_update;
DROP TRIGGER tiles_no_delete;
DROP TRIGGER checkpoints_no_update;
DROP TRIGGER checkpoints_no_delete;
DROP TRIGGER decks_no_update;
DROP TRIGGER decks_no_delete;
DROP TRIGGER terms_no_update;
DROP TRIGGER terms_no_delete;
DROP TRIGGER heads_no_delete;
DROP TRIGGER heads_grow;
DROP TRIGGER ledgers_no_replace;
DROP TRIGGER heads_no_replace;
DROP TRIGGER entries_no_replace;
DROP TRIGGER tiles_no_replace;
DROP TRIGGER checkpoints_no_replace;
DROP TRIGGER decks_no_replace;
DROP TRIGGER terms_no_replace;
DROP TRIGGER cosigned_no_update;
DROP TRIGGER cosigned_no_delete;
DROP TRIGGER cosigned_no_replace;
DROP TRIGGER late_no_update;
DROP TRIGGER late_no_delete;
DROP TRIGGER late_no_replace;
DROP TRIGGER statements_no_update;
DROP TRIGGER statements_no_delete;
DROP TRIGGER statements_no_replace;
DROP TRIGGER slots_no_update;
DROP TRIGGER slots_no_delete;
DROP TRIGGER slots_no_replace;
DROP TRIGGER access_records_no_update;
DROP TRIGGER access_records_no_replace;
DROP TRIGGER access_records_chain;

PRAGMA user_version = 1;
