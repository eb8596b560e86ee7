-- Sessions, which are opened, suspended, resumed and closed independently of their runs. `seq` is the sequence of the
-- event that set the state. It is 0 if the start of a run created the session, as for all sessions before this
-- migration.

CREATE TABLE sessions (
    session    BLOB PRIMARY KEY,
    workflow   TEXT,
    state      TEXT NOT NULL,
    seq        INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    idle_ms    INTEGER
) STRICT, WITHOUT ROWID;

INSERT INTO sessions (session, workflow, state, seq, created_at, changed_at, idle_ms)
    SELECT session, NULL, 'open', 0, min(created_at), min(created_at), NULL
    FROM runs INDEXED BY runs_by_session GROUP BY session ORDER BY session;

CREATE INDEX sessions_by_state ON sessions (state, session);
-- Index of the sessions that expire when idle.
CREATE INDEX sessions_that_expire ON sessions (session) WHERE idle_ms IS NOT NULL AND state IN ('open', 'suspended');
