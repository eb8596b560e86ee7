-- Assignee of an interrupt. The column is null if an older version wrote the row last: `holdshort rebuild` fills it in.

ALTER TABLE interrupts ADD COLUMN assigned TEXT;
