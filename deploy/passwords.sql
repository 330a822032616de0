-- Run once by compose.yaml's database when it is made: takes the roles'
-- passwords from their pgpass files. The reader gets none; it cannot log in
-- until it is given one.
\set ON_ERROR_STOP on
\set owner `cut -d: -f5 /run/secrets/owner_pgpass`
\set writer `cut -d: -f5 /run/secrets/writer_pgpass`
ALTER ROLE shuffled_owner PASSWORD :'owner';
ALTER ROLE shuffled_writer PASSWORD :'writer';
