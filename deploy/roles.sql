-- Roles of shuffled, each with the fewest rights that it needs. PostgreSQL 13 or newer.
--
-- Run this script in the database of the ledgers: once before the first migration, to make
-- the roles, and again after every migration, to grant rights on the new tables. It fits
-- this version's schema. It may be repeated, also while a daemon runs, and takes effect as
-- a whole or not at all.
--
--     psql -v ON_ERROR_STOP=1 -d shuffled -f roles.sql
--
-- Run it as superuser. If a provider gives you none, run it as a role with CREATEROLE that
-- owns the database and its schema public. Use the same role each time: it becomes a member
-- of shuffled_owner. If that role is also a member of pg_monitor, the daemon can read the
-- number of standbys.
--
-- shuffled_owner   owns the tables: for migrations, and for `shuffled ledger create`,
--                  which makes a head. Its password is not on the daemon's host.
-- shuffled_writer  the daemon. Adds evidence, and can neither change nor remove any.
--                  It updates heads: the compare-and-swap of an append, and the lock
--                  (FOR KEY SHARE) without which nothing stored is acknowledged.
--                  PostgreSQL lets only a role that may update a table lock its rows,
--                  so this role can lock only heads.
-- shuffled_reader  audits and exports. Reads evidence, heads and access records; nothing
--                  else.
--
-- No role gets a password here. Set one with \password in psql, or let the roles
-- in by certificate or peer authentication.

BEGIN;

DO $$
DECLARE
    r text;
BEGIN
    FOREACH r IN ARRAY ARRAY['shuffled_owner', 'shuffled_writer', 'shuffled_reader'] LOOP
        IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = r) THEN
            EXECUTE format('CREATE ROLE %I', r);
        END IF;
        EXECUTE format('ALTER ROLE %I LOGIN NOCREATEROLE NOINHERIT', r);
        -- Only a role that has these rights may run this, even if it changes nothing.
        IF EXISTS (SELECT FROM pg_catalog.pg_roles
                   WHERE rolname = r AND (rolsuper OR rolcreatedb OR rolreplication OR rolbypassrls)) THEN
            EXECUTE format('ALTER ROLE %I NOSUPERUSER NOCREATEDB NOREPLICATION NOBYPASSRLS', r);
        END IF;
        EXECUTE format('REVOKE ALL ON DATABASE %I FROM %I', current_database(), r);
        EXECUTE format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), r);
    END LOOP;
    EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
    -- Without a superuser's rights, this role grants the owner's objects as a member of the owner.
    IF NOT pg_catalog.pg_has_role(current_user, 'shuffled_owner', 'USAGE') THEN
        EXECUTE format('GRANT shuffled_owner TO %I', current_user);
    END IF;
END
$$;

REVOKE ALL ON SCHEMA public FROM PUBLIC, shuffled_owner, shuffled_writer, shuffled_reader;
GRANT USAGE, CREATE ON SCHEMA public TO shuffled_owner;
GRANT USAGE ON SCHEMA public TO shuffled_writer, shuffled_reader;

-- Every table has its rights here. A table that is not listed stops the script, so that a
-- migration cannot bring a table without a decision about it.
DO $$
DECLARE
    rel record;
    writer text;
    reader text;
BEGIN
    FOR rel IN
        SELECT c.relname AS name, format('public.%I', c.relname) AS quoted,
               pg_catalog.pg_get_userbyid(c.relowner) AS owner
        FROM pg_catalog.pg_class c
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
        ORDER BY c.relname
    LOOP
        CASE
            WHEN rel.name IN ('ledgers', 'entries', 'tiles', 'checkpoints', 'cosigned', 'late', 'decks', 'terms',
                'slots', 'statements') THEN -- evidence
                writer := 'SELECT, INSERT';
                reader := 'SELECT';
            WHEN rel.name = 'heads' THEN
                writer := 'SELECT, UPDATE';
                reader := 'SELECT';
            WHEN rel.name = 'access_records' THEN
                writer := 'SELECT, INSERT'; -- a chain; its owner drops what is past its retention
                reader := 'SELECT'; -- audit fsck compares the chain with its heads in the ledger
            ELSE
                RAISE EXCEPTION 'roles.sql does not know %: decide who may do what with it', rel.quoted;
        END CASE;
        -- Only if it changes something, because it locks the table.
        IF rel.owner <> 'shuffled_owner' THEN
            EXECUTE format('ALTER TABLE %s OWNER TO shuffled_owner', rel.quoted);
        END IF;
        EXECUTE format('REVOKE ALL ON %s FROM PUBLIC, shuffled_writer, shuffled_reader', rel.quoted);
        EXECUTE format('GRANT %s ON %s TO shuffled_writer', writer, rel.quoted);
        IF reader IS NOT NULL THEN
            EXECUTE format('GRANT %s ON %s TO shuffled_reader', reader, rel.quoted);
        END IF;
    END LOOP;
END
$$;

-- The number of connected synchronous standbys, NULL if this role may not see it. PostgreSQL
-- shows them only to members of pg_read_all_stats, who also see the statements of all
-- sessions. The daemon gets only this number instead.
CREATE OR REPLACE FUNCTION public.synchronous_standbys() RETURNS bigint
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$SELECT count(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')
         HAVING pg_has_role(current_user, 'pg_read_all_stats', 'USAGE')$$;
ALTER FUNCTION public.synchronous_standbys() OWNER TO CURRENT_USER;
REVOKE ALL ON FUNCTION public.synchronous_standbys() FROM PUBLIC, shuffled_owner, shuffled_reader;
GRANT EXECUTE ON FUNCTION public.synchronous_standbys() TO shuffled_writer;

COMMIT;
