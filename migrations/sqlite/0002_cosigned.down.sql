-- Refused while there are entries, as in 0001.
CREATE TABLE migrating_down (ledger INTEGER) STRICT;
CREATE TRIGGER entries_stay BEFORE INSERT ON migrating_down
BEGIN SELECT RAISE(ABORT, 'the database holds entries: evidence is never migrated away'); END;
INSERT INTO migrating_down SELECT ledger FROM entries LIMIT 1;

DROP TABLE migrating_down;
DROP TABLE statements;
DROP TABLE cosigned;

PRAGMA user_version = 1;
