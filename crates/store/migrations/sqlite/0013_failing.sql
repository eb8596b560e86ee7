-- Duration of a channel's failure. `failed_at` is the time of the last failed attempt. `failing_ms` is the time from
-- the first failed attempt to the last, in milliseconds. Only a part of a long pause is included.

ALTER TABLE channels ADD COLUMN failed_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE channels ADD COLUMN failing_ms INTEGER NOT NULL DEFAULT 0;
