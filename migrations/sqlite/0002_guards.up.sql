-- What guards the tables, as in migrations/postgres.

-- Evidence is insert-only. INSERT OR REPLACE is a deletion that fires no trigger
-- of DELETE: it is refused before it begins, like every row whose key is taken,
-- the rowid included. Who can write the file can also drop a trigger: the proofs
-- are the real wall.

CREATE TRIGGER ledgers_no_update BEFORE UPDATE ON ledgers
BEGIN SELECT RAISE(ABORT, 'UPDATE of ledgers is refused: evidence is insert-only'); END;
CREATE TRIGGER ledgers_no_delete BEFORE DELETE ON ledgers
BEGIN SELECT RAISE(ABORT, 'DELETE of ledgers is refused: evidence is insert-only'); END;
CREATE TRIGGER entries_no_update BEFORE UPDATE ON entries
BEGIN SELECT RAISE(ABORT, 'UPDATE of entries is refused: evidence is insert-only'); END;
CREATE TRIGGER entries_no_delete BEFORE DELETE ON entries
BEGIN SELECT RAISE(ABORT, 'DELETE of entries is refused: evidence is insert-only'); END;
CREATE TRIGGER tiles_no_update BEFORE UPDATE ON tiles
BEGIN SELECT RAISE(ABORT, 'UPDATE of tiles is refused: evidence is insert-only'); END;
CREATE TRIGGER tiles_no_delete BEFORE DELETE ON tiles
BEGIN SELECT RAISE(ABORT, 'DELETE of tiles is refused: evidence is insert-only'); END;
CREATE TRIGGER checkpoints_no_update BEFORE UPDATE ON checkpoints
BEGIN SELECT RAISE(ABORT, 'UPDATE of checkpoints is refused: evidence is insert-only'); END;
CREATE TRIGGER checkpoints_no_delete BEFORE DELETE ON checkpoints
BEGIN SELECT RAISE(ABORT, 'DELETE of checkpoints is refused: evidence is insert-only'); END;
CREATE TRIGGER decks_no_update BEFORE UPDATE ON decks
BEGIN SELECT RAISE(ABORT, 'UPDATE of decks is refused: evidence is insert-only'); END;
CREATE TRIGGER decks_no_delete BEFORE DELETE ON decks
BEGIN SELECT RAISE(ABORT, 'DELETE of decks is refused: evidence is insert-only'); END;
CREATE TRIGGER terms_no_update BEFORE UPDATE ON terms
BEGIN SELECT RAISE(ABORT, 'UPDATE of terms is refused: evidence is insert-only'); END;
CREATE TRIGGER terms_no_delete BEFORE DELETE ON terms
BEGIN SELECT RAISE(ABORT, 'DELETE of terms is refused: evidence is insert-only'); END;

CREATE TRIGGER heads_no_delete BEFORE DELETE ON heads
BEGIN SELECT RAISE(ABORT, 'DELETE of heads is refused: a head stays as long as its ledger'); END;
CREATE TRIGGER heads_grow BEFORE UPDATE ON heads
WHEN NEW.ledger <> OLD.ledger OR NEW.size < OLD.size OR NEW.size = OLD.size AND NEW.root <> OLD.root
BEGIN SELECT RAISE(ABORT, 'UPDATE of heads is refused: a head only grows'); END;

CREATE TRIGGER ledgers_no_replace BEFORE INSERT ON ledgers
WHEN EXISTS (SELECT 1 FROM ledgers WHERE ledger = NEW.ledger)
    OR EXISTS (SELECT 1 FROM ledgers WHERE name = NEW.name)
    OR EXISTS (SELECT 1 FROM ledgers WHERE origin = NEW.origin)
BEGIN SELECT RAISE(ABORT, 'INSERT into ledgers is refused: the key is taken'); END;
CREATE TRIGGER heads_no_replace BEFORE INSERT ON heads
WHEN EXISTS (SELECT 1 FROM heads WHERE ledger = NEW.ledger)
BEGIN SELECT RAISE(ABORT, 'INSERT into heads is refused: the key is taken'); END;
CREATE TRIGGER entries_no_replace BEFORE INSERT ON entries
WHEN EXISTS (SELECT 1 FROM entries WHERE ledger = NEW.ledger AND idx = NEW.idx)
    OR EXISTS (SELECT 1 FROM entries WHERE rowid = NEW.rowid)
    OR EXISTS (SELECT 1 FROM entries WHERE ledger = NEW.ledger AND key_tag = NEW.key_tag)
    OR EXISTS (SELECT 1 FROM entries WHERE ledger = NEW.ledger AND tbl = NEW.tbl AND serial = NEW.serial)
    OR NEW.type = 5 AND EXISTS (SELECT 1 FROM entries WHERE type = 5 AND ledger = NEW.ledger AND shuffle = NEW.shuffle)
BEGIN SELECT RAISE(ABORT, 'INSERT into entries is refused: the key is taken'); END;
CREATE TRIGGER tiles_no_replace BEFORE INSERT ON tiles
WHEN EXISTS (SELECT 1 FROM tiles WHERE ledger = NEW.ledger AND level = NEW.level AND idx = NEW.idx)
BEGIN SELECT RAISE(ABORT, 'INSERT into tiles is refused: the key is taken'); END;
CREATE TRIGGER checkpoints_no_replace BEFORE INSERT ON checkpoints
WHEN EXISTS (SELECT 1 FROM checkpoints WHERE ledger = NEW.ledger AND size = NEW.size)
BEGIN SELECT RAISE(ABORT, 'INSERT into checkpoints is refused: the key is taken'); END;
CREATE TRIGGER decks_no_replace BEFORE INSERT ON decks
WHEN EXISTS (SELECT 1 FROM decks WHERE ledger = NEW.ledger AND hash = NEW.hash)
BEGIN SELECT RAISE(ABORT, 'INSERT into decks is refused: the key is taken'); END;
CREATE TRIGGER terms_no_replace BEFORE INSERT ON terms
WHEN EXISTS (SELECT 1 FROM terms WHERE ledger = NEW.ledger AND hash = NEW.hash)
BEGIN SELECT RAISE(ABORT, 'INSERT into terms is refused: the key is taken'); END;

CREATE TRIGGER cosigned_no_update BEFORE UPDATE ON cosigned
BEGIN SELECT RAISE(ABORT, 'UPDATE of cosigned is refused: evidence is insert-only'); END;
CREATE TRIGGER cosigned_no_delete BEFORE DELETE ON cosigned
BEGIN SELECT RAISE(ABORT, 'DELETE of cosigned is refused: evidence is insert-only'); END;
CREATE TRIGGER cosigned_no_replace BEFORE INSERT ON cosigned
WHEN EXISTS (SELECT 1 FROM cosigned WHERE ledger = NEW.ledger AND size = NEW.size)
BEGIN SELECT RAISE(ABORT, 'INSERT into cosigned is refused: the key is taken'); END;

CREATE TRIGGER late_no_update BEFORE UPDATE ON late
BEGIN SELECT RAISE(ABORT, 'UPDATE of late is refused: evidence is insert-only'); END;
CREATE TRIGGER late_no_delete BEFORE DELETE ON late
BEGIN SELECT RAISE(ABORT, 'DELETE of late is refused: evidence is insert-only'); END;
CREATE TRIGGER late_no_replace BEFORE INSERT ON late
WHEN EXISTS (SELECT 1 FROM late WHERE ledger = NEW.ledger AND size = NEW.size)
BEGIN SELECT RAISE(ABORT, 'INSERT into late is refused: the key is taken'); END;

CREATE TRIGGER statements_no_update BEFORE UPDATE ON statements
BEGIN SELECT RAISE(ABORT, 'UPDATE of statements is refused: evidence is insert-only'); END;
CREATE TRIGGER statements_no_delete BEFORE DELETE ON statements
BEGIN SELECT RAISE(ABORT, 'DELETE of statements is refused: evidence is insert-only'); END;
CREATE TRIGGER statements_no_replace BEFORE INSERT ON statements
WHEN EXISTS (SELECT 1 FROM statements WHERE ledger = NEW.ledger AND shuffle = NEW.shuffle AND n = NEW.n)
BEGIN SELECT RAISE(ABORT, 'INSERT into statements is refused: the key is taken'); END;

CREATE TRIGGER slots_no_update BEFORE UPDATE ON slots
BEGIN SELECT RAISE(ABORT, 'UPDATE of slots is refused: evidence is insert-only'); END;
CREATE TRIGGER slots_no_delete BEFORE DELETE ON slots
BEGIN SELECT RAISE(ABORT, 'DELETE of slots is refused: evidence is insert-only'); END;
CREATE TRIGGER slots_no_replace BEFORE INSERT ON slots
WHEN EXISTS (SELECT 1 FROM slots WHERE ledger = NEW.ledger AND slot = NEW.slot)
BEGIN SELECT RAISE(ABORT, 'INSERT into slots is refused: the key is taken'); END;

CREATE TRIGGER access_records_no_update BEFORE UPDATE ON access_records
BEGIN SELECT RAISE(ABORT, 'UPDATE of access_records is refused: a record is kept or dropped, not changed'); END;
CREATE TRIGGER access_records_no_replace BEFORE INSERT ON access_records
WHEN EXISTS (SELECT 1 FROM access_records WHERE ledger = NEW.ledger AND time = NEW.time AND request = NEW.request)
BEGIN SELECT RAISE(ABORT, 'INSERT into access_records is refused: the key is taken'); END;
CREATE TRIGGER access_records_chain BEFORE INSERT ON access_records
WHEN NEW.seq IS NOT coalesce((SELECT max(seq) FROM access_records WHERE ledger = NEW.ledger), 0) + 1
BEGIN SELECT RAISE(ABORT, 'INSERT into access_records is refused: it is not the next number'); END;

PRAGMA user_version = 2;
