-- Adds the columns of conversations and claims, as `table.rs` describes them. The row of an interrupt now contains the
-- risk itself, and the index contains the negative risk.

ALTER TABLE sessions ADD COLUMN front_run BLOB;
ALTER TABLE sessions ADD COLUMN idle_since INTEGER;
UPDATE sessions SET idle_since = max(
    CASE WHEN seq > 0 THEN changed_at ELSE created_at END,
    coalesce((
        SELECT max(
            CASE WHEN sessions.idle_ms IS NOT NULL AND status IN ('completed', 'failed', 'cancelled')
                THEN updated_at ELSE runs.created_at END
        ) FROM runs WHERE runs.session = sessions.session
    ), sessions.created_at)
);

CREATE TABLE interrupts_with_risk (
    interrupt    BLOB PRIMARY KEY,
    run          BLOB NOT NULL,
    session      BLOB NOT NULL,
    kind         TEXT NOT NULL,
    open         INTEGER NOT NULL,
    risk         INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER,
    opened_seq   INTEGER NOT NULL,
    resolved_seq INTEGER,
    claimed_by   TEXT
) STRICT, WITHOUT ROWID;

INSERT INTO interrupts_with_risk
    SELECT interrupt, run, session, kind, open, 255 - calm, created_at, expires_at, opened_seq, resolved_seq, NULL
    FROM interrupts ORDER BY interrupt;

DROP TABLE interrupts;
ALTER TABLE interrupts_with_risk RENAME TO interrupts;

-- Interrupts of a session are found through the session's runs. A list without a filter reads the index by kind once
-- per kind.
CREATE INDEX interrupts_by_run ON interrupts (run);
CREATE INDEX open_interrupts_by_kind ON interrupts (kind, -risk, interrupt) WHERE open = 1;
CREATE INDEX resolved_interrupts_by_kind ON interrupts (kind, interrupt) WHERE open = 0;
