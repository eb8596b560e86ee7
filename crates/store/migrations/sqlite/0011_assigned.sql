-- Assignee of an interrupt. Null where an older version wrote the row last: `holdshort rebuild` fills it in.

ALTER TABLE interrupts ADD COLUMN assigned TEXT;
