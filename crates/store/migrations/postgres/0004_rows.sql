-- Adds the columns of conversations and claims. `table.rs` describes all columns of rows, and `holdshort_put` is
-- generated from this description.

ALTER TABLE sessions ADD COLUMN front_run text COLLATE "C";
ALTER TABLE sessions ADD COLUMN idle_since bigint;
UPDATE sessions SET idle_since = greatest(
    CASE WHEN seq > 0 THEN changed_at ELSE created_at END,
    (
        SELECT max(
            CASE WHEN sessions.idle_ms IS NOT NULL AND status IN ('completed', 'failed', 'cancelled')
                THEN updated_at ELSE runs.created_at END
        ) FROM runs WHERE runs.session = sessions.session
    )
);

-- Interrupts of a session are found through the session's runs. A list without a filter reads the index by kind once
-- per kind.
DROP INDEX open_interrupts;
DROP INDEX open_interrupts_by_kind;
DROP INDEX open_interrupts_by_session;
DROP INDEX resolved_interrupts;
DROP INDEX resolved_interrupts_by_kind;
DROP INDEX resolved_interrupts_by_session;

ALTER TABLE interrupts ALTER COLUMN risk TYPE bigint;
ALTER TABLE interrupts ADD COLUMN claimed_by text;

CREATE INDEX open_interrupts_by_kind ON interrupts (kind, (-risk), interrupt) WHERE open;
CREATE INDEX resolved_interrupts_by_kind ON interrupts (kind, interrupt) WHERE NOT open;

-- One append. All checks and writes are in one call, so a client that stops in the middle holds no locks.
--
-- `outcome` is `appended`, with the position in `number`; or `key taken`, with the key's index in the request and the
-- key's stored record; or `conflict`, with the index of the stream and the stream's actual sequence in `number`; or
-- `driven`. If a concurrent append takes one of the keys, the function raises 40001, and the caller retries.
CREATE OR REPLACE FUNCTION holdshort_append(
    p_node bigint,
    p_drives boolean,
    -- One lock for each stream that is written (exclusive) or guarded (shared). The ascending order prevents deadlocks
    -- between appends.
    p_locks bigint[],
    p_exclusive boolean[],
    p_key_scopes text[],
    p_key_names text[],
    p_key_digests bytea[],
    p_key_references text[],
    -- Streams and the sequences at which they must end: first the written streams, then the guards.
    p_ends text[],
    p_ends_at bigint[],
    p_streams text[],
    p_seqs bigint[],
    p_hashes bytea[],
    p_salts bytea[],
    p_large bytea[],
    p_heads bytea[],
    p_contents bytea[],
    p_blob_digests bytea[],
    p_blobs bytea[],
    -- {table: [row]}, with the columns of the tables.
    p_rows jsonb,
    OUT outcome text,
    OUT place bigint,
    OUT number bigint,
    OUT digest bytea,
    OUT reference text
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    the_run text := p_rows #>> '{runs,0,run}';
    owner bigint;
    written bigint;
BEGIN
    -- An answered append is on disk, and each statement sees all commits from before the locks, also behind a
    -- connection pooler.
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'appends need transactions that are read committed';
    END IF;
    IF current_setting('synchronous_commit') = 'off' THEN
        PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
    -- Statements before the checks take no transaction number, so a reader of an event gets a later number.
    FOR i IN 1 .. cardinality(p_locks) LOOP
        IF p_exclusive[i] THEN
            PERFORM pg_advisory_xact_lock(p_locks[i]);
        ELSE
            PERFORM pg_advisory_xact_lock_shared(p_locks[i]);
        END IF;
    END LOOP;

    IF cardinality(p_key_names) > 0 THEN
        SELECT asked.n, k.digest, k.reference INTO place, digest, reference
        FROM unnest(p_key_scopes, p_key_names) WITH ORDINALITY AS asked (scope, key, n)
        JOIN keys k ON k.scope = asked.scope AND k.key = asked.key
        ORDER BY asked.n LIMIT 1;
        IF FOUND THEN
            outcome := 'key taken';
            RETURN;
        END IF;
    END IF;

    FOR i IN 1 .. cardinality(p_ends) LOOP
        SELECT coalesce(max(e.seq), 0) INTO number FROM events e WHERE e.stream = p_ends[i];
        IF number <> p_ends_at[i] THEN
            outcome := 'conflict';
            place := i;
            RETURN;
        END IF;
    END LOOP;

    IF p_drives AND the_run IS NOT NULL THEN
        SELECT l.node INTO owner FROM leases l WHERE l.run = the_run FOR UPDATE;
        IF owner <> p_node AND EXISTS (
            SELECT FROM nodes n WHERE n.node = owner AND n.alive_until > clock_timestamp()
        ) THEN
            outcome := 'driven';
            RETURN;
        END IF;
    END IF;

    outcome := 'appended';
    IF cardinality(p_key_names) > 0 THEN
        INSERT INTO keys (scope, key, digest, reference)
        SELECT * FROM unnest(p_key_scopes, p_key_names, p_key_digests, p_key_references) AS new (s, k, d, r)
        ORDER BY s, k
        ON CONFLICT DO NOTHING;
        GET DIAGNOSTICS written = ROW_COUNT;
        IF written <> cardinality(p_key_names) THEN
            RAISE EXCEPTION 'a key was taken meanwhile' USING ERRCODE = 'serialization_failure';
        END IF;
    END IF;

    IF cardinality(p_blobs) > 0 THEN
        INSERT INTO blobs (digest, bytes)
        SELECT * FROM unnest(p_blob_digests, p_blobs) AS new (d, b) ORDER BY d
        ON CONFLICT DO NOTHING;
    END IF;

    IF cardinality(p_seqs) > 0 THEN
        number := (pg_current_xact_id()::text::bigint + (SELECT value FROM meta WHERE name = 'base')) << 14;
        INSERT INTO events (stream, seq, position, hash, salt, large, head, content)
        SELECT n.stream, n.seq, number + n.i - 1, n.hash, n.salt, n.large, n.head, n.content
        FROM unnest(p_streams, p_seqs, p_hashes, p_salts, p_large, p_heads, p_contents)
            WITH ORDINALITY AS n (stream, seq, hash, salt, large, head, content, i);
        number := number + cardinality(p_seqs) - 1;
    ELSE
        SELECT coalesce(max(e.position), 0) INTO number FROM events e;
    END IF;

    IF p_rows <> '{}' THEN
        PERFORM holdshort_put(p_rows);
    END IF;

    IF (p_rows #>> '{runs,0,runnable}')::boolean THEN
        INSERT INTO leases AS l (run, node, woken, since)
        VALUES (the_run, CASE WHEN p_drives THEN p_node END, NOT p_drives, clock_timestamp())
        ON CONFLICT (run) DO UPDATE SET
            node = CASE WHEN p_drives THEN p_node ELSE l.node END,
            woken = l.woken OR NOT p_drives,
            since = CASE WHEN p_drives THEN clock_timestamp() ELSE l.since END
        WHERE CASE WHEN p_drives THEN l.node IS DISTINCT FROM p_node ELSE NOT l.woken END;
    ELSIF the_run IS NOT NULL THEN
        DELETE FROM leases WHERE run = the_run;
    END IF;
END
$$;
