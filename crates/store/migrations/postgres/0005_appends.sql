-- One row for the events that an append writes to one stream. `position` and `seq` belong to the last of these events.
-- `packed_append.rs` describes the packed columns.

-- Rows of a few kilobytes are not moved out of line: two such rows fit on a page.
CREATE TABLE appends (
    stream   text COLLATE "C" NOT NULL,
    seq      bigint NOT NULL,
    position bigint NOT NULL,
    hashes   bytea NOT NULL,
    heads    bytea NOT NULL,
    contents bytea,
    PRIMARY KEY (stream, seq)
) WITH (toast_tuple_target = 4080);

-- Each existing event gets a separate row. The lock prevents concurrent appends.
LOCK TABLE events IN ACCESS EXCLUSIVE MODE;

INSERT INTO appends (stream, seq, position, hashes, heads, contents)
SELECT stream, seq, position, hash, int4send(octet_length(head)) || head,
       CASE WHEN salt IS NULL THEN NULL
            WHEN large IS NOT NULL THEN '\x02'::bytea || salt || large
            ELSE '\x01'::bytea || salt || coalesce(int4send(octet_length(content)) || content, '')
       END
FROM events ORDER BY position;

CREATE UNIQUE INDEX appends_by_position ON appends (position);

DROP TABLE events;
-- A node of an older version that is still running can no longer append.
DROP FUNCTION holdshort_append;

-- One append. All checks and writes are in one call, so a client that stops in the middle holds no locks.
--
-- `outcome` is `appended`, with the position in `number`; or `key taken`, with the key's index in the request and the
-- key's stored record; or `conflict`, with the index of the stream and the stream's actual sequence in `number`; or
-- `driven`. If a concurrent append takes one of the keys, the function raises 40001, and the caller retries.
CREATE FUNCTION holdshort_append(
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
    -- Rows to write. `p_upto` is the number of the append's events up to the last event of the row.
    p_streams text[],
    p_seqs bigint[],
    p_upto bigint[],
    p_hashes bytea[],
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
        SELECT coalesce(max(a.seq), 0) INTO number FROM appends a WHERE a.stream = p_ends[i];
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
        INSERT INTO appends (stream, seq, position, hashes, heads, contents)
        SELECT n.stream, n.seq, number + n.upto - 1, n.hashes, n.heads, n.contents
        FROM unnest(p_streams, p_seqs, p_upto, p_hashes, p_heads, p_contents)
            AS n (stream, seq, upto, hashes, heads, contents);
        number := number + p_upto[cardinality(p_upto)] - 1;
    ELSE
        SELECT coalesce(max(a.position), 0) INTO number FROM appends a;
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

-- Seals at most `p_limit` appends that are final and not yet sealed, and returns the last seal. `more` is true if there
-- may be further appends to seal. Calls run one after the other. If a different call is sealing, the function waits
-- with `p_wait`, and does nothing without it.
--
-- Each seal replaces the preceding seal, because it proves the same events and more. About one seal per thousand events
-- is kept.
CREATE OR REPLACE FUNCTION holdshort_seal(
    p_lock bigint, p_limit bigint, p_wait boolean, OUT sealed bigint, OUT head bytea, OUT more boolean
) LANGUAGE plpgsql AS $$
DECLARE
    last bigint := 0;
    looked bigint := 0;
    upto bigint;
    a record;
BEGIN
    more := false;
    IF p_wait THEN
        PERFORM pg_advisory_xact_lock(p_lock);
    ELSIF NOT pg_try_advisory_xact_lock(p_lock) THEN
        RETURN;
    END IF;
    SELECT s.position, s.events, s.hash INTO last, sealed, head FROM seals s ORDER BY s.position DESC LIMIT 1;
    IF NOT FOUND THEN
        last := 0;
        sealed := 0;
        head := decode(repeat('00', 32), 'hex');
    END IF;
    FOR a IN
        SELECT n.position, n.hashes FROM appends n
        WHERE n.position > last AND n.position < holdshort_horizon() ORDER BY n.position LIMIT p_limit
    LOOP
        FOR i IN 0 .. octet_length(a.hashes) / 32 - 1 LOOP
            head := sha256(head || substring(a.hashes FROM 32 * i + 1 FOR 32));
            sealed := sealed + 1;
        END LOOP;
        looked := looked + 1;
        upto := a.position;
    END LOOP;
    IF looked > 0 THEN
        INSERT INTO seals (position, events, hash) VALUES (upto, sealed, head);
        DELETE FROM seals s WHERE s.position = last AND s.events / 1024 = sealed / 1024;
        more := looked = p_limit;
    END IF;
END
$$;
