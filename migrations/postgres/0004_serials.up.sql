-- entries_serial leads to a serial as well, and an index less is half the cost of
-- filling recall. This migration may run alongside a daemon of the version before: it
-- touches no table that an append does, except for the comment.
DROP INDEX recall_serial;

COMMENT ON TABLE heads IS 'shuffled schema 4';
