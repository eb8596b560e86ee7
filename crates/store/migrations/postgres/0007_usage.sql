-- Usage of runs. Null where an older version wrote the row last: `holdshort rebuild` counts it. Cost in millionths of the
-- currency's unit.

ALTER TABLE runs ADD COLUMN requests bigint;
ALTER TABLE runs ADD COLUMN input_tokens bigint;
ALTER TABLE runs ADD COLUMN output_tokens bigint;
ALTER TABLE runs ADD COLUMN cost bigint;
ALTER TABLE runs ADD COLUMN currency text;
ALTER TABLE runs ADD COLUMN unpriced bigint;
