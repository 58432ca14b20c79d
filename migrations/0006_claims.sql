-- +goose NO TRANSACTION
-- +goose Up
-- claims: who asked, what for, and the block that was given. A claim that exists is bound.
-- spec is the request as it was written; nothing searches inside it.
CREATE TABLE IF NOT EXISTS claims (
    region          crdb_internal_region NOT NULL,
    project_id      UUID        NOT NULL,
    name            TEXT        NOT NULL,
    id              UUID        NOT NULL,
    pool_id         UUID        NOT NULL,
    pool_project_id UUID        NOT NULL,
    pool_project    TEXT        NOT NULL,
    pool_name       TEXT        NOT NULL,
    base            BYTEA       NOT NULL,
    plen            INT2        NOT NULL,
    allocation_id   UUID        NOT NULL,
    spec            JSONB       NOT NULL,
    labels          JSONB       NOT NULL,
    annotations     JSONB       NOT NULL,
    generation      INT8        NOT NULL,
    revision        UUID        NOT NULL,
    created_at      TIMESTAMPTZ NOT NULL,
    updated_at      TIMESTAMPTZ NOT NULL,
    created_by      TEXT        NOT NULL,
    CONSTRAINT claims_pkey PRIMARY KEY (region, project_id, name)
);
