-- Sessions, which are opened, suspended, resumed and closed independently of their runs. `seq` is the sequence of the
-- event that set the state. It is 0 if the start of a run created the session, as for all sessions before this
-- migration.

CREATE TABLE sessions (
    session    text COLLATE "C" PRIMARY KEY,
    workflow   text COLLATE "C",
    state      text COLLATE "C" NOT NULL,
    seq        bigint NOT NULL,
    created_at bigint NOT NULL,
    changed_at bigint NOT NULL,
    idle_ms    bigint
);

-- The lock prevents the start of runs during this migration. Such a run would have no session.
LOCK TABLE runs IN SHARE ROW EXCLUSIVE MODE;

INSERT INTO sessions (session, workflow, state, seq, created_at, changed_at, idle_ms)
SELECT session, NULL, 'open', 0, min(created_at), min(created_at), NULL FROM runs GROUP BY session ORDER BY session;

CREATE INDEX sessions_by_state ON sessions (state, session);
-- Index of the sessions that expire when idle.
CREATE INDEX sessions_that_expire ON sessions (session) WHERE idle_ms IS NOT NULL AND state IN ('open', 'suspended');

-- Inserts each row, or replaces the row with the same id. The rows of a session are merged.
CREATE OR REPLACE FUNCTION holdshort_put(p_rows jsonb) RETURNS void LANGUAGE plpgsql AS $$
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

    -- The later event says what the session is, whichever comes first; and it is as old as the older row says.
    IF p_rows ? 'session' THEN
        INSERT INTO sessions AS old (session, workflow, state, seq, created_at, changed_at, idle_ms)
        SELECT s.session, s.workflow, s.state, s.seq, s.created_at, s.changed_at, s.idle_ms
        FROM jsonb_populate_record(NULL::sessions, p_rows -> 'session') s
        ON CONFLICT (session) DO UPDATE SET
            workflow = CASE WHEN excluded.seq > old.seq THEN excluded.workflow ELSE old.workflow END,
            state = CASE WHEN excluded.seq > old.seq THEN excluded.state ELSE old.state END,
            seq = greatest(old.seq, excluded.seq),
            created_at = least(old.created_at, excluded.created_at),
            changed_at = CASE WHEN excluded.seq > old.seq THEN excluded.changed_at
                              WHEN excluded.seq = old.seq THEN least(old.changed_at, excluded.changed_at)
                              ELSE old.changed_at END,
            idle_ms = CASE WHEN excluded.seq > old.seq THEN excluded.idle_ms ELSE old.idle_ms END
        WHERE excluded.seq > old.seq OR excluded.created_at < old.created_at
            OR (excluded.seq = old.seq AND excluded.changed_at < old.changed_at);
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
