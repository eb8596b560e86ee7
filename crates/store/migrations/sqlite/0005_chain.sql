-- One chain over all events, beside those of the streams: `chained` is the head of the journal after the event, the
-- SHA-256 of the head before it and of the event's hash. The code copies the events over and names the table `events`.

CREATE TABLE chained_events (
    position INTEGER PRIMARY KEY,
    stream   BLOB NOT NULL,
    seq      INTEGER NOT NULL,
    hash     BLOB NOT NULL,
    chained  BLOB NOT NULL,
    salt     BLOB,
    large    BLOB,
    head     BLOB NOT NULL,
    content  BLOB,
    UNIQUE (stream, seq)
) STRICT;

-- `open`: 1 while a server has the folder, and after it was killed; 0 once it has closed the journal.
INSERT INTO meta (name, value) VALUES ('open', 0);
