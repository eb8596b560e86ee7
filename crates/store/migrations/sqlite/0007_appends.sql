-- One row for each append, or for each stream of one: a commit writes fewer entries of fewer indexes. `position`, `seq`
-- and `chained` are those of its last event; what is packed in the other columns is described in `packed_append.rs`.
-- The code packs each event that is here by now into a row of its own, and drops `events`.

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
