-- Two guards. Rows of evidence that no head covers, or a head that no rows lead to,
-- cannot be written: one INSERT or UPDATE of the daemon's role would otherwise stop a
-- ledger for good. And access records are a chain, to which that role only adds. The
-- daemons are stopped for this migration: one of the version before would add records
-- to no chain.
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

-- Records count from 1 without a gap, and each has the hash of the one before (docs/
-- OPERATIONS.md, Access records). Those from before this migration have neither.
ALTER TABLE access_records
    ADD COLUMN seq  bigint CHECK (seq > 0),
    ADD COLUMN prev bytea CHECK (octet_length(prev) = 32),
    ADD CHECK ((seq IS NULL) = (prev IS NULL));
CREATE UNIQUE INDEX access_records_seq ON access_records (ledger, seq);

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

COMMENT ON TABLE heads IS 'shuffled schema 6';
