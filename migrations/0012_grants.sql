-- +goose NO TRANSACTION
-- +goose Up
-- grants: which consumers may use a pool or a space of another project. subject_id is the pool or the space; consumer is
-- a project's name, or * for all. Read everywhere, rarely written (GLOBAL on a multi-region cluster).
-- grants_consumer_key serves "what was granted to this project", for selectors.
CREATE TABLE IF NOT EXISTS grants (
    id         UUID        NOT NULL,
    kind       TEXT        NOT NULL,
    subject_id UUID        NOT NULL,
    consumer   TEXT        NOT NULL,
    generation INT8        NOT NULL,
    revision   UUID        NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    created_by TEXT        NOT NULL,
    CONSTRAINT grants_pkey PRIMARY KEY (subject_id, consumer),
    CONSTRAINT grants_consumer_key UNIQUE (consumer, kind, subject_id),
    CONSTRAINT grants_kind_check CHECK (kind IN ('pool', 'space'))
);
