-- +goose NO TRANSACTION
-- +goose Up
-- pools: blocks from which others are carved. The block itself (region, container_id, base, plen) never changes.
-- container_id is what the pool was carved from: its parent pool's id, or a container of its space.
-- parent_* and space_* repeat names, which never change, so that reading a pool needs no join.
CREATE TABLE IF NOT EXISTS pools (
    id                   UUID        NOT NULL,
    project_id           UUID        NOT NULL,
    name                 TEXT        NOT NULL,
    region               crdb_internal_region NOT NULL,
    space_id             UUID        NOT NULL,
    space_project        TEXT        NOT NULL,
    space_name           TEXT        NOT NULL,
    container_id         UUID        NOT NULL,
    container_project_id UUID        NOT NULL,
    parent_project       TEXT        NOT NULL,
    parent_name          TEXT        NOT NULL,
    af                   INT2        NOT NULL,
    base                 BYTEA       NOT NULL,
    plen                 INT2        NOT NULL,
    by_cidr              BOOL        NOT NULL,
    visibility           TEXT        NOT NULL,
    strategy             TEXT        NOT NULL,
    min_plen             INT2,
    max_plen             INT2,
    default_plen         INT2,
    reservations         JSONB       NOT NULL,
    description          TEXT        NOT NULL,
    labels               JSONB       NOT NULL,
    annotations          JSONB       NOT NULL,
    generation           INT8        NOT NULL,
    revision             UUID        NOT NULL,
    created_at           TIMESTAMPTZ NOT NULL,
    updated_at           TIMESTAMPTZ NOT NULL,
    created_by           TEXT        NOT NULL,
    CONSTRAINT pools_pkey PRIMARY KEY (id),
    CONSTRAINT pools_name_key UNIQUE (project_id, name),
    CONSTRAINT pools_block_key UNIQUE (container_id, base),
    CONSTRAINT pools_project_fkey FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT pools_space_fkey FOREIGN KEY (space_id) REFERENCES spaces (id),
    CONSTRAINT pools_af_check CHECK (af IN (4, 6)),
    CONSTRAINT pools_visibility_check CHECK (visibility IN ('platform', 'consumer', 'shared')),
    CONSTRAINT pools_strategy_check CHECK (strategy IN ('FirstFit', 'BestFit', 'Random', 'Sparse'))
);
