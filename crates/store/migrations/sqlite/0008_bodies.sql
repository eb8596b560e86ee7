-- The bytes of files that changesets name, dropped after a while. `needed_at` in milliseconds since 1970. The index holds
-- all that choosing what goes has to read.

CREATE TABLE bodies (
    digest    BLOB NOT NULL UNIQUE,
    needed_at INTEGER NOT NULL,
    size      INTEGER NOT NULL,
    bytes     BLOB NOT NULL
) STRICT;
CREATE INDEX bodies_by_need ON bodies (needed_at, size);
