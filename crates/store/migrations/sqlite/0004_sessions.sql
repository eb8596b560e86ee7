-- Sessions are more than what their runs have in common: they are opened, suspended, resumed and closed. `seq` is
-- the event that set the state; 0 where a run's start made the session, as with all that are here by now.

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
-- Sessions that expire when they are idle.
CREATE INDEX sessions_that_expire ON sessions (session) WHERE idle_ms IS NOT NULL AND state IN ('open', 'suspended');
