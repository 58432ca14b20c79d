-- +goose NO TRANSACTION
-- +goose Up
-- audit_events: who changed what, or tried to without the right to. Rows are inserted, and deleted when they are too old;
-- no statement changes one. id is a UUID of version 7, so that the key is in order of time.
CREATE TABLE IF NOT EXISTS audit_events (
    region     crdb_internal_region NOT NULL,
    project_id UUID        NOT NULL,
    id         UUID        NOT NULL,
    at         TIMESTAMPTZ NOT NULL,
    subject    TEXT        NOT NULL,
    method     TEXT        NOT NULL,
    remote     TEXT        NOT NULL,
    request_id TEXT        NOT NULL,
    operation  TEXT        NOT NULL,
    kind       TEXT        NOT NULL,
    name       TEXT        NOT NULL,
    outcome    TEXT        NOT NULL,
    before     JSONB,
    after      JSONB,
    CONSTRAINT audit_events_pkey PRIMARY KEY (region, project_id, id)
);
