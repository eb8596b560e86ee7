-- A commit writes each page that it touches, so each index has to be worth one.
--
-- Events name their stream by its packed id, after one byte for its kind (1 run, 2 session, 3 system): the index
-- that puts them in order finds the stream too. Ids are drawn in order of time, so lists need no column of time.

CREATE TABLE journal (
    position INTEGER PRIMARY KEY,
    stream   BLOB NOT NULL,
    seq      INTEGER NOT NULL,
    hash     BLOB NOT NULL,
    salt     BLOB,
    large    BLOB,
    head     BLOB NOT NULL,
    content  BLOB,
    UNIQUE (stream, seq)
) STRICT;

INSERT INTO journal (position, stream, seq, hash, salt, large, head, content)
    SELECT position, streams.id, seq, hash, salt, large, head, content
    FROM events CROSS JOIN streams USING (stream) ORDER BY position;

DROP TABLE events;
DROP TABLE streams;
ALTER TABLE journal RENAME TO events;

DROP INDEX runs_by_age;
DROP INDEX runs_by_status;
DROP INDEX runs_by_workflow;
DROP INDEX runs_by_session;

-- Read once per status or workflow that the filter leaves open: `waiting of this workflow` must not wade through
-- the ended ones. Without a filter the table itself is in order.
CREATE INDEX runs_by_state ON runs (status, workflow, run);
CREATE INDEX runs_by_session ON runs (session, run);

DROP INDEX open_interrupts;
DROP INDEX open_interrupts_by_kind;
DROP INDEX open_interrupts_by_session;
DROP INDEX resolved_interrupts;
DROP INDEX resolved_interrupts_by_kind;
DROP INDEX resolved_interrupts_by_session;

-- Without a filter those by kind are read once per kind.
CREATE INDEX open_interrupts_by_kind ON interrupts (kind, calm, interrupt) WHERE open = 1;
CREATE INDEX open_interrupts_by_session ON interrupts (session, calm, interrupt) WHERE open = 1;
CREATE INDEX resolved_interrupts_by_kind ON interrupts (kind, interrupt) WHERE open = 0;
CREATE INDEX resolved_interrupts_by_session ON interrupts (session, interrupt) WHERE open = 0;
