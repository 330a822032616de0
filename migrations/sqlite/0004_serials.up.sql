-- As in migrations/postgres.
DROP INDEX recall_serial;

PRAGMA user_version = 4;
