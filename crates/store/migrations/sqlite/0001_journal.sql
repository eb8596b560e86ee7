-- The journal: streams, events, keys and blobs. All rows can be dropped and rebuilt from the journal.
--
-- Ids are packed: the 26 characters after the prefix become 17 bytes, which memcmp orders like the text. The database
-- may contain a million waiting runs, so rows are small: events name their stream by a number, and there is an index
-- only for lists that people or the driver need.

CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO meta (name, value) VALUES ('epoch', 0);

-- `id` is one byte for the kind of stream (1 run, 2 session, 3 system), followed by the packed id.
CREATE TABLE streams (
    stream INTEGER PRIMARY KEY,
    id     BLOB NOT NULL UNIQUE
) STRICT;

-- `salt` is set if the event has content. The content is in `content`, or in the blob that `large` names.
CREATE TABLE events (
    position INTEGER PRIMARY KEY,
    stream   INTEGER NOT NULL,
    seq      INTEGER NOT NULL,
    hash     BLOB NOT NULL,
    salt     BLOB,
    large    BLOB,
    head     BLOB NOT NULL,
    content  BLOB,
    UNIQUE (stream, seq)
) STRICT;

CREATE TABLE keys (
    scope     TEXT NOT NULL,
    key       TEXT NOT NULL,
    digest    BLOB NOT NULL,
    reference TEXT NOT NULL,
    PRIMARY KEY (scope, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE blobs (
    digest BLOB NOT NULL UNIQUE,
    bytes  BLOB NOT NULL
) STRICT;

CREATE TABLE runs (
    run        BLOB PRIMARY KEY,
    session    BLOB NOT NULL,
    workflow   TEXT NOT NULL,
    status     TEXT NOT NULL,
    end_reason TEXT,
    runnable   INTEGER NOT NULL,
    deadline   INTEGER,
    seq        INTEGER NOT NULL,
    ended_seq  INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX runs_by_age ON runs (created_at, run);
CREATE INDEX runs_by_status ON runs (status, created_at, run);
-- A list of a workflow's runs without a status reads this index once per status. A list of waiting runs never reads the
-- ended runs.
CREATE INDEX runs_by_workflow ON runs (workflow, status, created_at, run);
CREATE INDEX runs_by_session ON runs (session, created_at, run);
CREATE INDEX runs_runnable ON runs (created_at, run) WHERE runnable = 1;
CREATE INDEX runs_by_deadline ON runs (deadline, run) WHERE deadline IS NOT NULL;

-- `calm` is 255 minus the risk. An ascending index then lists the highest risk first, and the oldest first among equal
-- risks.
CREATE TABLE interrupts (
    interrupt    BLOB PRIMARY KEY,
    run          BLOB NOT NULL,
    session      BLOB NOT NULL,
    kind         TEXT NOT NULL,
    open         INTEGER NOT NULL,
    calm         INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER,
    opened_seq   INTEGER NOT NULL,
    resolved_seq INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX interrupts_by_run ON interrupts (run);
CREATE INDEX open_interrupts ON interrupts (calm, created_at, interrupt) WHERE open = 1;
CREATE INDEX open_interrupts_by_kind ON interrupts (kind, calm, created_at, interrupt) WHERE open = 1;
CREATE INDEX open_interrupts_by_session ON interrupts (session, calm, created_at, interrupt) WHERE open = 1;
CREATE INDEX resolved_interrupts ON interrupts (created_at, interrupt) WHERE open = 0;
CREATE INDEX resolved_interrupts_by_kind ON interrupts (kind, created_at, interrupt) WHERE open = 0;
CREATE INDEX resolved_interrupts_by_session ON interrupts (session, created_at, interrupt) WHERE open = 0;

CREATE TABLE grants (
    grant_id  BLOB PRIMARY KEY,
    session   BLOB NOT NULL,
    added_seq INTEGER NOT NULL,
    revoked   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
