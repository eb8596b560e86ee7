-- The outbox: deliveries, their results, and failing channels. It is not a projection, so a rebuild keeps it.
-- Timestamps are milliseconds since 1970.

CREATE TABLE deliveries (
    delivery   BLOB PRIMARY KEY NOT NULL,
    channel    TEXT NOT NULL,
    occasion   TEXT NOT NULL,
    run        BLOB NOT NULL,
    seq        INTEGER NOT NULL,
    interrupt  BLOB NOT NULL,
    notice     TEXT NOT NULL,
    state      TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    next_at    INTEGER,
    attempts   INTEGER NOT NULL,
    -- The node that sends it.
    node       INTEGER,
    status     INTEGER,
    error      TEXT,
    ended_at   INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX deliveries_due ON deliveries (channel, next_at) WHERE next_at IS NOT NULL;
CREATE INDEX deliveries_waiting ON deliveries (created_at) WHERE next_at IS NOT NULL;
CREATE INDEX deliveries_by_state ON deliveries (state, delivery);
CREATE INDEX deliveries_ended ON deliveries (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX deliveries_by_interrupt ON deliveries (interrupt, delivery);

CREATE TABLE attempts (
    delivery BLOB NOT NULL,
    number   INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    took_ms  INTEGER NOT NULL,
    status   INTEGER,
    error    TEXT,
    digest   TEXT,
    answer   TEXT,
    PRIMARY KEY (delivery, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE channels (
    channel       TEXT PRIMARY KEY NOT NULL,
    failing_since INTEGER NOT NULL,
    disabled_at   INTEGER,
    why           TEXT
) STRICT, WITHOUT ROWID;
