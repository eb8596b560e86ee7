-- Contents of files that changesets name. They are deleted after a while. `needed_at` is the time of the last use, in
-- milliseconds since 1970.

CREATE TABLE bodies (
    digest    bytea PRIMARY KEY,
    needed_at bigint NOT NULL,
    size      bigint NOT NULL,
    bytes     bytea NOT NULL
);
CREATE INDEX bodies_by_need ON bodies (needed_at, size);
