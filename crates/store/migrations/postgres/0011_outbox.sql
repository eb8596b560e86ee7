-- The outbox: deliveries, their results, and failing channels. It is not a projection, so a rebuild keeps it.
-- Timestamps are milliseconds since 1970.

CREATE TABLE deliveries (
    delivery   text COLLATE "C" PRIMARY KEY,
    channel    text NOT NULL,
    occasion   text NOT NULL,
    run        text COLLATE "C" NOT NULL,
    seq        bigint NOT NULL,
    interrupt  text COLLATE "C" NOT NULL,
    notice     text NOT NULL,
    state      text NOT NULL,
    created_at bigint NOT NULL,
    next_at    bigint,
    attempts   bigint NOT NULL,
    -- Node that sends the delivery now.
    node       bigint,
    status     bigint,
    error      text,
    ended_at   bigint
);
CREATE INDEX deliveries_due ON deliveries (channel, next_at) WHERE next_at IS NOT NULL;
CREATE INDEX deliveries_waiting ON deliveries (created_at) WHERE next_at IS NOT NULL;
CREATE INDEX deliveries_by_state ON deliveries (state, delivery);
CREATE INDEX deliveries_ended ON deliveries (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX deliveries_by_interrupt ON deliveries (interrupt, delivery);

CREATE TABLE attempts (
    delivery text COLLATE "C" NOT NULL,
    number   bigint NOT NULL,
    at       bigint NOT NULL,
    took_ms  bigint NOT NULL,
    status   bigint,
    error    text,
    digest   text,
    answer   text,
    PRIMARY KEY (delivery, number)
);

CREATE TABLE channels (
    channel       text COLLATE "C" PRIMARY KEY,
    failing_since bigint NOT NULL,
    disabled_at   bigint,
    why           text
);
