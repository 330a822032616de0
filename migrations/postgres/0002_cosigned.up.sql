-- Cosigned checkpoints: those heads for which a quorum of witnesses answered,
-- with the cosignatures. They are evidence, and insert-only like the rest. This
-- migration may run alongside a daemon: it touches no table that an append does,
-- except the comment.
CREATE TABLE cosigned (
    ledger     bigint NOT NULL REFERENCES ledgers,
    size       bigint NOT NULL CHECK (size > 0),
    root       bytea NOT NULL CHECK (octet_length(root) = 32),
    checkpoint bytea NOT NULL,
    PRIMARY KEY (ledger, size)
);

CREATE TRIGGER insert_only BEFORE UPDATE OR DELETE OR TRUNCATE ON cosigned
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('evidence is insert-only');
ALTER TABLE cosigned ENABLE ALWAYS TRIGGER insert_only;

-- Signed statements of auditors about shuffles whose tapes they opened (docs/SPEC.md
-- section 8.1), by shuffle in the order in which they came.
CREATE TABLE statements (
    ledger  bigint NOT NULL REFERENCES ledgers,
    shuffle bigint NOT NULL CHECK (shuffle > 0),
    n       smallint NOT NULL CHECK (n BETWEEN 0 AND 7),
    note    bytea NOT NULL CHECK (octet_length(note) <= 16384),
    PRIMARY KEY (ledger, shuffle, n)
);

CREATE TRIGGER insert_only BEFORE UPDATE OR DELETE OR TRUNCATE ON statements
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('evidence is insert-only');
ALTER TABLE statements ENABLE ALWAYS TRIGGER insert_only;

COMMENT ON TABLE heads IS 'shuffled schema 2';
