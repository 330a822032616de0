-- Refused while there are entries: by a trigger, since nothing else can refuse. A
-- migration has the database to itself.
CREATE TABLE migrating_down (ledger INTEGER) STRICT;
CREATE TRIGGER entries_stay BEFORE INSERT ON migrating_down
BEGIN SELECT RAISE(ABORT, 'the database holds entries: evidence is never migrated away'); END;
INSERT INTO migrating_down SELECT ledger FROM entries LIMIT 1;

DROP TABLE migrating_down;
DROP TABLE access_records;
DROP TABLE slots;
DROP TABLE statements;
DROP TABLE late;
DROP TABLE cosigned;
DROP TABLE terms;
DROP TABLE decks;
DROP TABLE checkpoints;
DROP TABLE tiles;
DROP TABLE entries;
DROP TABLE heads;
DROP TABLE ledgers;

PRAGMA user_version = 0;
