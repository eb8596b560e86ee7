-- One row for the events that an append writes to one stream, so that a commit writes fewer index entries. `position`,
-- `seq` and `chained` belong to the last of these events. `packed_append.rs` describes the packed columns. `upgrade.rs`
-- packs each existing event into a separate row and drops the table `events`.

CREATE TABLE appends (
    position INTEGER PRIMARY KEY,
    stream   BLOB NOT NULL,
    seq      INTEGER NOT NULL,
    chained  BLOB NOT NULL,
    hashes   BLOB NOT NULL,
    heads    BLOB NOT NULL,
    contents BLOB,
    UNIQUE (stream, seq)
) STRICT;
