-- Snapshots: encoded states of ledgers, each of the entries below idx, where the
-- event with its digest stands. A daemon begins from the newest one that holds, and
-- from entry 0 where there is none. Computed from the entries, and believed only
-- under the event's digest; so the store drops all but the newest few, and changes
-- none. This migration may run beside a daemon of the version before: it touches
-- no table that an append does, but for the comment.
CREATE TABLE snapshots (
    ledger bigint NOT NULL REFERENCES ledgers,
    idx    bigint NOT NULL CHECK (idx > 0),
    state  bytea NOT NULL,
    PRIMARY KEY (ledger, idx)
);
-- Mostly hashes, as entries are.
ALTER TABLE snapshots ALTER state SET STORAGE EXTERNAL;

CREATE TRIGGER unchanged BEFORE UPDATE OR TRUNCATE ON snapshots
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('a snapshot is kept or dropped, not changed');
ALTER TABLE snapshots ENABLE ALWAYS TRIGGER unchanged;

-- entries_serial leads to a serial as well, and an index less is half the cost of
-- filling recall.
DROP INDEX recall_serial;

COMMENT ON TABLE heads IS 'shuffled schema 4';
