-- Access records are a chain, as in migrations/postgres. The guards of evidence there
-- are against a role that may only add rows; anyone who writes this file may drop them.
ALTER TABLE access_records ADD COLUMN seq INTEGER CHECK (seq > 0);
ALTER TABLE access_records ADD COLUMN prev BLOB CHECK (length(prev) = 32 AND seq IS NOT NULL OR prev IS NULL AND seq IS NULL);
CREATE UNIQUE INDEX access_records_seq ON access_records (ledger, seq);

CREATE TRIGGER access_records_chain BEFORE INSERT ON access_records
WHEN NEW.seq IS NOT coalesce((SELECT max(seq) FROM access_records WHERE ledger = NEW.ledger), 0) + 1
BEGIN SELECT RAISE(ABORT, 'INSERT into access_records is refused: it is not the next number'); END;

PRAGMA user_version = 6;
