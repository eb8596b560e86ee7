-- Usage of runs. The columns are null if an older version wrote the row last: `holdshort rebuild` fills them in. The
-- cost is in millionths of the currency's unit.

ALTER TABLE runs ADD COLUMN requests INTEGER;
ALTER TABLE runs ADD COLUMN input_tokens INTEGER;
ALTER TABLE runs ADD COLUMN output_tokens INTEGER;
ALTER TABLE runs ADD COLUMN cost INTEGER;
ALTER TABLE runs ADD COLUMN currency TEXT;
ALTER TABLE runs ADD COLUMN unpriced INTEGER;
