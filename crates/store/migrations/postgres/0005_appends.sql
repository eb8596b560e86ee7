-- One row for each append, or for each stream of one. `position` and `seq` are those of its last event; what is packed in
-- the other columns is described in `packed_append.rs`.

-- Rows of a few kilobytes stay whole: two of them fit on a page.
CREATE TABLE appends (
    stream   text COLLATE "C" NOT NULL,
    seq      bigint NOT NULL,
    position bigint NOT NULL,
    hashes   bytea NOT NULL,
    heads    bytea NOT NULL,
    contents bytea,
    PRIMARY KEY (stream, seq)
) WITH (toast_tuple_target = 4080);

-- Each event that is here by now gets a row of its own. The lock keeps others from appending.
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
-- A node of an older version that still runs finds nothing to append with.
DROP FUNCTION holdshort_append;

-- One append: all checks and all writes in one call, so that a client that stops in the middle holds nothing.
--
-- `outcome` is `appended` with the position in `number`; or `key taken`, with the key's place in the request and
-- its record; or `conflict`, with the place of the stream and the sequence found in `number`; or `driven`. If
-- another append took a key in between, it raises 40001, and the caller retries.
CREATE FUNCTION holdshort_append(
    p_node bigint,
    p_drives boolean,
    -- One lock for each stream written (exclusive) or guarded (shared), in ascending order, which prevents
    -- deadlocks between appends.
    p_locks bigint[],
    p_exclusive boolean[],
    p_key_scopes text[],
    p_key_names text[],
    p_key_digests bytea[],
    p_key_references text[],
    -- Where streams must end: those that are written, then the guards.
    p_ends text[],
    p_ends_at bigint[],
    -- The rows to be written; `p_upto`: how many of the append's events there are up to the row's last.
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

-- Seals at most `p_limit` of the appends that are final and not sealed yet, and returns the last seal. `more`: there may
-- be others. One at a time; without `p_wait` one that finds another at it leaves it to that.
--
-- A seal replaces the one before it, but for one in about a thousand events: what a seal proves the next one does.
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
