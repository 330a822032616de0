-- What guards the tables: storage settings and triggers, which an engine that speaks
-- PostgreSQL's protocol may lack. "shuffled migrate up --no-guards" leaves this file out,
-- "shuffled doctor" names the guards that are not there, and a later "shuffled migrate up"
-- brings them, also alongside daemons: their appends wait.

-- The order is that in which an append takes its locks.
LOCK TABLE heads, entries, tiles, checkpoints, decks, terms, slots, cosigned, late, statements, ledgers,
    access_records IN ACCESS EXCLUSIVE MODE;

-- Sealed tapes are ciphertext and entries mostly hashes: compressing them is
-- work for nothing. EXTERNAL never tries, and still moves values out of the row
-- where it would not fit its page; a row of 52 cards always fits.
ALTER TABLE entries ALTER entry SET STORAGE EXTERNAL, ALTER kept SET STORAGE EXTERNAL;
ALTER TABLE tiles ALTER data SET STORAGE EXTERNAL;
ALTER TABLE heads ALTER checkpoint SET STORAGE MAIN;

-- Evidence is insert-only. Statement triggers refuse the attempt even where no
-- row would match, and ALWAYS keeps them in force for replication roles. A role
-- that owns the tables can still drop them: the proofs are the real wall.
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% of % is refused: %', TG_OP, TG_TABLE_NAME, TG_ARGV[0]
        USING ERRCODE = 'insufficient_privilege';
END
$$;

CREATE TRIGGER insert_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledgers
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('evidence is insert-only');
CREATE TRIGGER insert_only BEFORE UPDATE OR DELETE OR TRUNCATE ON entries
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('evidence is insert-only');
CREATE TRIGGER insert_only BEFORE UPDATE OR DELETE OR TRUNCATE ON tiles
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('evidence is insert-only');
CREATE TRIGGER insert_only BEFORE UPDATE OR DELETE OR TRUNCATE ON checkpoints
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('evidence is insert-only');
CREATE TRIGGER insert_only BEFORE UPDATE OR DELETE OR TRUNCATE ON cosigned
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('evidence is insert-only');
CREATE TRIGGER insert_only BEFORE UPDATE OR DELETE OR TRUNCATE ON late
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('evidence is insert-only');
CREATE TRIGGER insert_only BEFORE UPDATE OR DELETE OR TRUNCATE ON decks
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('evidence is insert-only');
CREATE TRIGGER insert_only BEFORE UPDATE OR DELETE OR TRUNCATE ON terms
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('evidence is insert-only');
CREATE TRIGGER insert_only BEFORE UPDATE OR DELETE OR TRUNCATE ON slots
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('evidence is insert-only');
CREATE TRIGGER insert_only BEFORE UPDATE OR DELETE OR TRUNCATE ON statements
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('evidence is insert-only');
CREATE TRIGGER kept BEFORE DELETE OR TRUNCATE ON heads
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('a head stays as long as its ledger');
CREATE TRIGGER grows BEFORE UPDATE ON heads FOR EACH ROW
    WHEN (NEW.ledger <> OLD.ledger OR NEW.size < OLD.size OR NEW.size = OLD.size AND NEW.root <> OLD.root)
    EXECUTE FUNCTION refuse_change('a head only grows');
CREATE TRIGGER unchanged BEFORE UPDATE OR TRUNCATE ON access_records
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('a record is kept or dropped, not changed');

ALTER TABLE ledgers ENABLE ALWAYS TRIGGER insert_only;
ALTER TABLE entries ENABLE ALWAYS TRIGGER insert_only;
ALTER TABLE tiles ENABLE ALWAYS TRIGGER insert_only;
ALTER TABLE checkpoints ENABLE ALWAYS TRIGGER insert_only;
ALTER TABLE cosigned ENABLE ALWAYS TRIGGER insert_only;
ALTER TABLE late ENABLE ALWAYS TRIGGER insert_only;
ALTER TABLE decks ENABLE ALWAYS TRIGGER insert_only;
ALTER TABLE terms ENABLE ALWAYS TRIGGER insert_only;
ALTER TABLE slots ENABLE ALWAYS TRIGGER insert_only;
ALTER TABLE statements ENABLE ALWAYS TRIGGER insert_only;
ALTER TABLE heads ENABLE ALWAYS TRIGGER kept, ENABLE ALWAYS TRIGGER grows;
ALTER TABLE access_records ENABLE ALWAYS TRIGGER unchanged;

-- Rows of evidence that no head covers, or a head that no rows lead to, cannot be
-- written: one INSERT or UPDATE of the daemon's role would otherwise stop a ledger for
-- good. And to access records that role only adds.
--
-- Unlike insert_only, the guards of evidence do not fire for replication roles: a
-- subscriber applies the changes of one transaction one by one.

-- An append is one statement. After it the head's checkpoint is stored, and so are its
-- first and last entry; guard_entries sees to those between them.
CREATE FUNCTION guard_head() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM checkpoints c WHERE c.ledger = NEW.ledger AND c.size = NEW.size
                   AND c.root = NEW.root AND c.checkpoint = NEW.checkpoint)
       OR NOT EXISTS (SELECT FROM entries e WHERE e.ledger = NEW.ledger AND e.idx = NEW.size - 1)
       OR NEW.size > OLD.size AND NOT EXISTS (SELECT FROM entries e WHERE e.ledger = NEW.ledger AND e.idx = OLD.size) THEN
        RAISE EXCEPTION 'UPDATE of heads is refused: a head of size % has its checkpoint and its entries, written with it', NEW.size
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER guard AFTER UPDATE ON heads FOR EACH ROW EXECUTE FUNCTION guard_head();

-- The entries of a statement are those up to the head, without a gap.
CREATE FUNCTION guard_entries() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    r record;
BEGIN
    FOR r IN SELECT ledger, min(idx) AS first, max(idx) AS last, count(*) AS n FROM added GROUP BY ledger LOOP
        IF r.last - r.first + 1 <> r.n OR NOT EXISTS (SELECT FROM heads h WHERE h.ledger = r.ledger AND h.size = r.last + 1) THEN
            RAISE EXCEPTION 'INSERT of entries is refused: entries % to % are not those up to the head, written with it', r.first, r.last
                USING ERRCODE = 'insufficient_privilege';
        END IF;
    END LOOP;
    RETURN NULL;
END
$$;
CREATE TRIGGER guard AFTER INSERT ON entries REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION guard_entries();

-- A checkpoint is that of the head, and a tile is full.
CREATE FUNCTION guard_sizes() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    head bigint := (SELECT h.size FROM heads h WHERE h.ledger = NEW.ledger);
    fits boolean;
BEGIN
    IF TG_TABLE_NAME = 'checkpoints' THEN
        fits := NEW.size = head;
    ELSE -- tiles: 256 hashes of a level stand for 256^(level + 1) entries each
        fits := NEW.level < 7 AND NEW.idx < head >> (8 * (NEW.level + 1));
    END IF;
    IF fits IS NOT TRUE THEN
        RAISE EXCEPTION 'INSERT of % is refused: the ledger has % entries', TG_TABLE_NAME, head
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER guard AFTER INSERT ON checkpoints FOR EACH ROW EXECUTE FUNCTION guard_sizes();
CREATE TRIGGER guard AFTER INSERT ON tiles FOR EACH ROW EXECUTE FUNCTION guard_sizes();

CREATE FUNCTION guard_access() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.seq IS DISTINCT FROM coalesce((SELECT max(a.seq) FROM access_records a WHERE a.ledger = NEW.ledger), 0) + 1 THEN
        RAISE EXCEPTION 'INSERT of access_records is refused: % is not the next number', NEW.seq
            USING ERRCODE = 'unique_violation', CONSTRAINT = 'access_records_seq';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER guard BEFORE INSERT ON access_records FOR EACH ROW EXECUTE FUNCTION guard_access();

COMMENT ON TABLE heads IS 'shuffled/v1 schema 1';
