-- The database of compose.yaml runs this once, when it is made. It takes the roles'
-- passwords from their pgpass files. The reader gets no password, and cannot log in
-- until you set one.
\set ON_ERROR_STOP on
\set owner `cut -d: -f5 /run/secrets/owner_pgpass`
\set writer `cut -d: -f5 /run/secrets/writer_pgpass`
ALTER ROLE shuffled_owner PASSWORD :'owner';
ALTER ROLE shuffled_writer PASSWORD :'writer';
