-- How long a channel has failed: its last failed attempt, and the time from the first to it, of which long pauses count in
-- part. In milliseconds.

ALTER TABLE channels ADD COLUMN failed_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE channels ADD COLUMN failing_ms INTEGER NOT NULL DEFAULT 0;
