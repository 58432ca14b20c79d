-- +goose NO TRANSACTION
-- +goose Up
-- projects: the tenants. Read everywhere, rarely written (GLOBAL on a multi-region cluster).
-- projects_name_key serves every request: the path names the project.
CREATE TABLE IF NOT EXISTS projects (
    id           UUID        NOT NULL,
    name         TEXT        NOT NULL,
    display_name TEXT        NOT NULL,
    description  TEXT        NOT NULL,
    labels       JSONB       NOT NULL,
    annotations  JSONB       NOT NULL,
    generation   INT8        NOT NULL,
    revision     UUID        NOT NULL,
    created_at   TIMESTAMPTZ NOT NULL,
    updated_at   TIMESTAMPTZ NOT NULL,
    created_by   TEXT        NOT NULL,
    CONSTRAINT projects_pkey PRIMARY KEY (id),
    CONSTRAINT projects_name_key UNIQUE (name)
);
