-- One chain over all events, beside those of the streams, in the order of their positions.
--
-- That order is final only below the horizon, and appends do not wait for each other to be chained: the chain is
-- sealed behind them, stretch by stretch. A seal says that up to its position there are so many events, and that the
-- chain over them ends in `hash`: the SHA-256 of the hash before it and of the event's hash, from 32 zero bytes.
CREATE TABLE seals (
    position bigint PRIMARY KEY,
    events   bigint NOT NULL,
    hash     bytea NOT NULL
);

-- Seals at most `p_limit` of the events that are final and not sealed yet, and returns the last seal. `more`: there may
-- be others. One at a time; without `p_wait` one that finds another at it leaves it to that.
--
-- A seal replaces the one before it, but for one in about a thousand events: what a seal proves the next one does.
CREATE FUNCTION holdshort_seal(
    p_lock bigint, p_limit bigint, p_wait boolean, OUT sealed bigint, OUT head bytea, OUT more boolean
) LANGUAGE plpgsql AS $$
DECLARE
    last bigint := 0;
    before bigint;
    upto bigint;
    e record;
BEGIN
    more := false;
    IF p_wait THEN
        PERFORM pg_advisory_xact_lock(p_lock);
    ELSIF NOT pg_try_advisory_xact_lock(p_lock) THEN
        RETURN;
    END IF;
    SELECT s.position, s.events, s.hash INTO last, sealed, head FROM seals s ORDER BY s.position DESC LIMIT 1;
    IF NOT FOUND THEN
        last := 0;
        sealed := 0;
        head := decode(repeat('00', 32), 'hex');
    END IF;
    before := sealed;
    FOR e IN
        SELECT v.position, v.hash FROM events v
        WHERE v.position > last AND v.position < holdshort_horizon() ORDER BY v.position LIMIT p_limit
    LOOP
        head := sha256(head || e.hash);
        sealed := sealed + 1;
        upto := e.position;
    END LOOP;
    IF sealed > before THEN
        INSERT INTO seals (position, events, hash) VALUES (upto, sealed, head);
        DELETE FROM seals s WHERE s.position = last AND s.events / 1024 = sealed / 1024;
        more := sealed - before = p_limit;
    END IF;
END
$$;
