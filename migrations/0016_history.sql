-- +goose NO TRANSACTION
-- +goose Up
-- history: for how long blocks were held for whom, one row when a hold ends. What is held now is in allocations.
-- A pool's name stands for the pool: two pools never have one name at the same time.
-- The key serves "who held this block at that time": the first row of a block that ended after it.
CREATE TABLE IF NOT EXISTS history (
    region         crdb_internal_region NOT NULL,
    project_id     UUID        NOT NULL,
    base           BYTEA       NOT NULL,
    plen           INT2        NOT NULL,
    until          TIMESTAMPTZ NOT NULL,
    id             UUID        NOT NULL,
    since          TIMESTAMPTZ NOT NULL,
    pool_project   TEXT        NOT NULL,
    pool_name      TEXT        NOT NULL,
    purpose        TEXT        NOT NULL,
    phase          TEXT        NOT NULL,
    allocation_id  UUID        NOT NULL,
    holder_project TEXT        NOT NULL,
    holder_name    TEXT        NOT NULL,
    CONSTRAINT history_pkey PRIMARY KEY (region, project_id, base, plen, until, id)
);
