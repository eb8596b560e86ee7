-- Usage of runs. The columns are null if an older version wrote the row last: `holdshort rebuild` fills them in. The
-- cost is in millionths of the currency's unit.

ALTER TABLE runs ADD COLUMN requests bigint;
ALTER TABLE runs ADD COLUMN input_tokens bigint;
ALTER TABLE runs ADD COLUMN output_tokens bigint;
ALTER TABLE runs ADD COLUMN cost bigint;
ALTER TABLE runs ADD COLUMN currency text;
ALTER TABLE runs ADD COLUMN unpriced bigint;
