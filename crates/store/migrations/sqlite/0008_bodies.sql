-- Contents of files that changesets name. They are deleted after a while. `needed_at` is the time of the last use, in
-- milliseconds since 1970. The index contains all columns that are needed to choose the files to delete.

CREATE TABLE bodies (
    digest    BLOB NOT NULL UNIQUE,
    needed_at INTEGER NOT NULL,
    size      INTEGER NOT NULL,
    bytes     BLOB NOT NULL
) STRICT;
CREATE INDEX bodies_by_need ON bodies (needed_at, size);
