-- Nodes of several versions can share one database. `knows` is the schema version that a node's binary knows. It is
-- null for a node of an older version, which does not record it.
ALTER TABLE nodes ADD COLUMN knows bigint;

-- `least` is the oldest schema version whose binaries can work with this schema. It is the number of the last migration
-- that breaks older binaries.
INSERT INTO meta (name, value) VALUES ('least', 9);

-- Claims runs like its predecessor, except runs that this node cannot read.
CREATE FUNCTION holdshort_claim(p_node bigint, p_limit bigint, p_except text[])
RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    candidates text[];
BEGIN
    SELECT array_agg(run) INTO candidates FROM (
        SELECT l.run FROM leases l
        WHERE l.run <> ALL (p_except) AND (
            l.node IS NULL OR (l.node = p_node AND l.woken) OR l.node <> ALL (ARRAY(
                SELECT n.node FROM nodes n WHERE n.alive_until > clock_timestamp()
            ))
        )
        ORDER BY l.run LIMIT p_limit FOR UPDATE OF l SKIP LOCKED
    ) free;
    IF candidates IS NULL THEN
        RETURN;
    END IF;
    RETURN QUERY UPDATE leases l SET node = p_node, woken = false, since = clock_timestamp()
    WHERE l.run = ANY (candidates) AND (
        l.node IS NULL OR (l.node = p_node AND l.woken) OR NOT EXISTS (
            SELECT FROM nodes n WHERE n.node = l.node AND n.alive_until > clock_timestamp()
        )
    )
    RETURNING l.run;
END
$$;
