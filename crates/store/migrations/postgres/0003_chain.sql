-- One chain over all events in the order of their positions, in addition to the chains of the streams.
--
-- The order is final only below the horizon. Appends do not wait until they are chained: ranges of events are sealed
-- after their commit. A seal records the number of events up to `position`, and the hash at which the chain over these
-- events ends. The chain starts with 32 zero bytes. Each next hash is the SHA-256 of the preceding hash and the event's
-- hash.
CREATE TABLE seals (
    position bigint PRIMARY KEY,
    events   bigint NOT NULL,
    hash     bytea NOT NULL
);

-- Seals at most `p_limit` events that are final and not yet sealed, and returns the last seal. `more` is true if there
-- may be further events to seal. Calls run one after the other. If a different call is sealing, the function waits with
-- `p_wait`, and does nothing without it.
--
-- Each seal replaces the preceding seal, because it proves the same events and more. About one seal per thousand events
-- is kept.
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
