-- +goose NO TRANSACTION
-- +goose Up
-- spaces: routing domains. container_v4 and container_v6 are the keys under which free_blocks and allocations hold the
-- two families; root pools are carved from them.
CREATE TABLE IF NOT EXISTS spaces (
    id           UUID        NOT NULL,
    project_id   UUID        NOT NULL,
    name         TEXT        NOT NULL,
    container_v4 UUID        NOT NULL,
    container_v6 UUID        NOT NULL,
    region       crdb_internal_region NOT NULL,
    description  TEXT        NOT NULL,
    labels       JSONB       NOT NULL,
    annotations  JSONB       NOT NULL,
    generation   INT8        NOT NULL,
    revision     UUID        NOT NULL,
    created_at   TIMESTAMPTZ NOT NULL,
    updated_at   TIMESTAMPTZ NOT NULL,
    created_by   TEXT        NOT NULL,
    CONSTRAINT spaces_pkey PRIMARY KEY (id),
    CONSTRAINT spaces_name_key UNIQUE (project_id, name),
    CONSTRAINT spaces_project_fkey FOREIGN KEY (project_id) REFERENCES projects (id)
);
