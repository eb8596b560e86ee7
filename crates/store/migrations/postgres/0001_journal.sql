-- The journal: events, keys and blobs. All rows can be dropped and rebuilt from the journal. Leases record which node
-- drives a run. Ids are stored as text and sort by their bytes. Timestamps of the journal are milliseconds since 1970.

-- `base` is added to the number of a transaction to calculate positions; see `holdshort_horizon`.
CREATE TABLE meta (
    name  text PRIMARY KEY,
    value bigint NOT NULL
);

INSERT INTO meta (name, value) VALUES ('version', 0), ('base', 0);

-- `salt` is set if the event has content. The content is in `content`, or in the blob that `large` names.
CREATE TABLE events (
    stream   text COLLATE "C" NOT NULL,
    seq      bigint NOT NULL,
    position bigint NOT NULL,
    hash     bytea NOT NULL,
    salt     bytea,
    large    bytea,
    head     bytea NOT NULL,
    content  bytea,
    PRIMARY KEY (stream, seq)
);

CREATE UNIQUE INDEX events_by_position ON events (position);

CREATE TABLE keys (
    scope     text COLLATE "C" NOT NULL,
    key       text COLLATE "C" NOT NULL,
    digest    bytea NOT NULL,
    reference text NOT NULL,
    PRIMARY KEY (scope, key)
);

CREATE TABLE blobs (
    digest bytea PRIMARY KEY,
    bytes  bytea NOT NULL
);

-- Each update leaves an old version of the row. If there is room on the same page, PostgreSQL needs no new index
-- entries.
CREATE TABLE runs (
    run        text COLLATE "C" PRIMARY KEY,
    session    text COLLATE "C" NOT NULL,
    workflow   text COLLATE "C" NOT NULL,
    status     text COLLATE "C" NOT NULL,
    end_reason text,
    runnable   boolean NOT NULL,
    deadline   bigint,
    seq        bigint NOT NULL,
    ended_seq  bigint,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL
) WITH (fillfactor = 85);

CREATE INDEX runs_by_status ON runs (status, run);
-- A list of a workflow's runs without a status reads this index once per status. A list of waiting runs never reads the
-- ended runs.
CREATE INDEX runs_by_workflow ON runs (workflow, status, run);
CREATE INDEX runs_by_session ON runs (session, run);
CREATE INDEX runs_by_deadline ON runs (deadline, run) WHERE deadline IS NOT NULL;

CREATE TABLE interrupts (
    interrupt    text COLLATE "C" PRIMARY KEY,
    run          text COLLATE "C" NOT NULL,
    session      text COLLATE "C" NOT NULL,
    kind         text COLLATE "C" NOT NULL,
    open         boolean NOT NULL,
    risk         smallint NOT NULL,
    created_at   bigint NOT NULL,
    expires_at   bigint,
    opened_seq   bigint NOT NULL,
    resolved_seq bigint
);

CREATE INDEX interrupts_by_run ON interrupts (run);
-- Highest risk first, and oldest first among equal risks. With `-risk` both columns are ascending.
CREATE INDEX open_interrupts ON interrupts ((-risk), interrupt) WHERE open;
CREATE INDEX open_interrupts_by_kind ON interrupts (kind, (-risk), interrupt) WHERE open;
CREATE INDEX open_interrupts_by_session ON interrupts (session, (-risk), interrupt) WHERE open;
CREATE INDEX resolved_interrupts ON interrupts (interrupt) WHERE NOT open;
CREATE INDEX resolved_interrupts_by_kind ON interrupts (kind, interrupt) WHERE NOT open;
CREATE INDEX resolved_interrupts_by_session ON interrupts (session, interrupt) WHERE NOT open;

CREATE TABLE grants (
    grant_id  text COLLATE "C" PRIMARY KEY,
    session   text COLLATE "C" NOT NULL,
    added_seq bigint NOT NULL,
    revoked   boolean NOT NULL
);

CREATE INDEX grants_by_state ON grants (revoked, grant_id);

-- Each opening of the store draws an epoch from this sequence. No epoch is drawn twice.
CREATE SEQUENCE epochs;

-- Processes that drive runs. A node is alive until `alive_until`, by the clock of this database.
CREATE TABLE nodes (
    node        bigint PRIMARY KEY,
    epoch       bigint NOT NULL,
    name        text NOT NULL,
    -- True if no other node may use the database at the same time.
    alone       boolean NOT NULL,
    opened_at   timestamptz NOT NULL,
    alive_until timestamptz NOT NULL
) WITH (fillfactor = 50);

-- One row for each run that can continue without a person. `node` is the node that drives the run, or null if the run
-- waits for a node. `woken` is true if a different node has changed the run since `node` last read it. The table is
-- small and changes constantly, so it is vacuumed often.
CREATE TABLE leases (
    run   text COLLATE "C" PRIMARY KEY,
    node  bigint,
    woken boolean NOT NULL,
    since timestamptz NOT NULL
) WITH (
    fillfactor = 70,
    autovacuum_vacuum_scale_factor = 0.0,
    autovacuum_vacuum_threshold = 500,
    autovacuum_analyze_scale_factor = 0.0,
    autovacuum_analyze_threshold = 2000,
    autovacuum_vacuum_cost_delay = 0
);

-- Draws the epoch that becomes a node's id, and announces the node. If living nodes prevent the opening, returns their
-- names in `others` instead. Calls run one after the other, so of two nodes that open at the same time the second sees
-- the first.
CREATE FUNCTION holdshort_join(
    p_lock bigint, p_name text, p_lease double precision, p_alone boolean, OUT node bigint, OUT others text
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
    PERFORM pg_advisory_xact_lock(p_lock);
    -- An ended node stays listed for a day, for diagnosis.
    DELETE FROM nodes n WHERE n.alive_until < clock_timestamp() - interval '1 day'
        AND NOT EXISTS (SELECT FROM leases l WHERE l.node = n.node);
    SELECT string_agg(n.name, ', ' ORDER BY n.node) INTO others FROM nodes n
    WHERE n.alive_until > clock_timestamp() AND (p_alone OR n.alone);
    IF others IS NULL THEN
        node := nextval('epochs');
        INSERT INTO nodes (node, epoch, name, alone, opened_at, alive_until)
        VALUES (node, node, p_name, p_alone, clock_timestamp(),
                clock_timestamp() + make_interval(secs => p_lease));
    END IF;
END
$$;

-- Returns the horizon. Positions below the horizon are final: every transaction that could write such a position has
-- ended. The upper bits of a position are the number of its transaction, and the lower 14 bits are the event's number
-- within the transaction. PostgreSQL reports the number of the oldest running transaction.
CREATE FUNCTION holdshort_horizon() RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT (pg_snapshot_xmin(pg_current_snapshot())::text::bigint
            + (SELECT value FROM meta WHERE name = 'base')) << 14
$$;

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
    p_streams text[],
    p_seqs bigint[],
    p_hashes bytea[],
    p_salts bytea[],
    p_large bytea[],
    p_heads bytea[],
    p_contents bytea[],
    p_blob_digests bytea[],
    p_blobs bytea[],
    -- {run?, interrupts?, grants?}, with the columns of the tables.
    p_rows jsonb,
    OUT outcome text,
    OUT place bigint,
    OUT number bigint,
    OUT digest bytea,
    OUT reference text
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    the_run text := p_rows #>> '{run,run}';
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

    IF (p_rows #>> '{run,runnable}')::boolean THEN
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

-- Inserts each row, or replaces the row with the same id.
CREATE FUNCTION holdshort_put(p_rows jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF p_rows ? 'run' THEN
        INSERT INTO runs AS old (run, session, workflow, status, end_reason, runnable, deadline, seq, ended_seq,
                                 created_at, updated_at)
        SELECT r.run, r.session, r.workflow, r.status, r.end_reason, r.runnable, r.deadline, r.seq, r.ended_seq,
               r.created_at, r.updated_at
        FROM jsonb_populate_record(NULL::runs, p_rows -> 'run') r
        ON CONFLICT (run) DO UPDATE SET
            session = excluded.session, workflow = excluded.workflow, status = excluded.status,
            end_reason = excluded.end_reason, runnable = excluded.runnable, deadline = excluded.deadline,
            seq = excluded.seq, ended_seq = excluded.ended_seq, created_at = excluded.created_at,
            updated_at = excluded.updated_at;
    END IF;

    -- One at a time: an append may name the same one twice, and the last word counts.
    FOR i IN 0 .. coalesce(jsonb_array_length(p_rows -> 'interrupts'), 0) - 1 LOOP
        INSERT INTO interrupts (interrupt, run, session, kind, open, risk, created_at, expires_at, opened_seq,
                                resolved_seq)
        SELECT r.interrupt, r.run, r.session, r.kind, r.open, r.risk, r.created_at, r.expires_at, r.opened_seq,
               r.resolved_seq
        FROM jsonb_populate_record(NULL::interrupts, p_rows -> 'interrupts' -> i) r
        ON CONFLICT (interrupt) DO UPDATE SET
            run = excluded.run, session = excluded.session, kind = excluded.kind, open = excluded.open,
            risk = excluded.risk, created_at = excluded.created_at, expires_at = excluded.expires_at,
            opened_seq = excluded.opened_seq, resolved_seq = excluded.resolved_seq;
    END LOOP;

    FOR i IN 0 .. coalesce(jsonb_array_length(p_rows -> 'grants'), 0) - 1 LOOP
        INSERT INTO grants (grant_id, session, added_seq, revoked)
        SELECT r.grant_id, r.session, r.added_seq, r.revoked
        FROM jsonb_populate_record(NULL::grants, p_rows -> 'grants' -> i) r
        ON CONFLICT (grant_id) DO UPDATE SET
            session = excluded.session, added_seq = excluded.added_seq, revoked = excluded.revoked;
    END LOOP;
END
$$;

-- Takes leases that no living node holds. Also returns runs of `p_node` that a different node has changed (`woken`).
--
-- The function has two statements, so that the second statement sees everything that was committed before the rows were
-- locked. A single statement could compare a changed lease with an outdated list of nodes.
CREATE FUNCTION holdshort_claim(p_node bigint, p_limit bigint) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    candidates text[];
BEGIN
    SELECT array_agg(run) INTO candidates FROM (
        SELECT l.run FROM leases l
        WHERE l.node IS NULL OR (l.node = p_node AND l.woken) OR l.node <> ALL (ARRAY(
            SELECT n.node FROM nodes n WHERE n.alive_until > clock_timestamp()
        ))
        ORDER BY l.run LIMIT p_limit FOR UPDATE OF l SKIP LOCKED
    ) free;
    IF candidates IS NULL THEN
        RETURN;
    END IF;
    RETURN QUERY UPDATE leases l SET node = p_node, woken = false, since = clock_timestamp()
    WHERE l.run = ANY (candidates) AND (
        l.node IS NULL OR (l.node = p_node AND l.woken) OR NOT EXISTS (
            SELECT FROM nodes n WHERE n.node = l.node AND n.alive_until > clock_timestamp()
        )
    )
    RETURNING l.run;
END
$$;

-- Values that all nodes share, such as tokens. The first node that needs a value sets it.
CREATE TABLE agreed (
    name  text PRIMARY KEY,
    value text NOT NULL
);
