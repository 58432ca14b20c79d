-- +goose NO TRANSACTION
-- +goose Up
-- allocations: every held block is one row: claims, child pools, reservations, root pools' holds on their space.
-- project_id is the project that owns the container; it depends on container_id alone, and comes first so that
-- the key also serves "all allocations of a project" without another index.
-- since is when the present holder got the block in the present phase; what was before is in history.
-- allocations_id_key serves GET, DELETE and re-binding by name (an allocation's name is its id).
CREATE TABLE IF NOT EXISTS allocations (
    region            crdb_internal_region NOT NULL,
    project_id        UUID        NOT NULL,
    container_id      UUID        NOT NULL,
    base              BYTEA       NOT NULL,
    plen              INT2        NOT NULL,
    id                UUID        NOT NULL,
    purpose           TEXT        NOT NULL,
    phase             TEXT        NOT NULL,
    pool_project      TEXT        NOT NULL,
    pool_name         TEXT        NOT NULL,
    holder_project_id UUID        NOT NULL,
    holder_project    TEXT        NOT NULL,
    holder_name       TEXT        NOT NULL,
    reclaim_policy    TEXT        NOT NULL,
    owner_ref         JSONB,
    reason            TEXT        NOT NULL,
    since             TIMESTAMPTZ NOT NULL,
    revision          UUID        NOT NULL,
    created_at        TIMESTAMPTZ NOT NULL,
    updated_at        TIMESTAMPTZ NOT NULL,
    created_by        TEXT        NOT NULL,
    CONSTRAINT allocations_pkey PRIMARY KEY (region, project_id, container_id, base),
    CONSTRAINT allocations_id_key UNIQUE (region, id),
    CONSTRAINT allocations_purpose_check CHECK (purpose IN ('Claim', 'ChildPool', 'Reservation', 'RootPool')),
    CONSTRAINT allocations_phase_check CHECK (phase IN ('Bound', 'Retained'))
);
