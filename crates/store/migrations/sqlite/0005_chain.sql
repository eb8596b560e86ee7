-- One chain over all events, in addition to the chains of the streams. `chained` is the head of the journal after the
-- event: the SHA-256 of the preceding head and the event's hash. `upgrade.rs` copies the events to this table and
-- renames it to `events`.

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

-- `open` is 1 while a server uses the folder, and stays 1 if the server is killed. It is 0 after the server has closed
-- the journal.
INSERT INTO meta (name, value) VALUES ('open', 0);
