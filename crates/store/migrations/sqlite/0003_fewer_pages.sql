-- A commit writes at least one page for each index that it changes, so there are only few indexes.
--
-- Events name their stream by one byte for the kind of stream (1 run, 2 session, 3 system) and the packed id. The index
-- by stream and sequence therefore also finds the stream. Ids sort by the time of their creation, so lists need no
-- column for this time.

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

-- A list whose filter omits the status or the workflow reads this index once per status or workflow. A list of waiting
-- runs never reads the ended runs. A list without a filter reads the table itself, which is in the right order.
CREATE INDEX runs_by_state ON runs (status, workflow, run);
CREATE INDEX runs_by_session ON runs (session, run);

DROP INDEX open_interrupts;
DROP INDEX open_interrupts_by_kind;
DROP INDEX open_interrupts_by_session;
DROP INDEX resolved_interrupts;
DROP INDEX resolved_interrupts_by_kind;
DROP INDEX resolved_interrupts_by_session;

-- A list without a filter reads the index by kind once per kind.
CREATE INDEX open_interrupts_by_kind ON interrupts (kind, calm, interrupt) WHERE open = 1;
CREATE INDEX open_interrupts_by_session ON interrupts (session, calm, interrupt) WHERE open = 1;
CREATE INDEX resolved_interrupts_by_kind ON interrupts (kind, interrupt) WHERE open = 0;
CREATE INDEX resolved_interrupts_by_session ON interrupts (session, interrupt) WHERE open = 0;
