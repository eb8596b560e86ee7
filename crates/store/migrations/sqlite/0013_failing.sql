-- Duration of a channel's failure: its last failed attempt, and the time since the first one. Long pauses
-- count in part. In milliseconds.

ALTER TABLE channels ADD COLUMN failed_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE channels ADD COLUMN failing_ms INTEGER NOT NULL DEFAULT 0;
