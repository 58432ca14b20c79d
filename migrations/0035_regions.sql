-- +goose NO TRANSACTION
-- +goose Up
-- regions: the database's regions in the order in which they were added; the first is the primary one. Written by `ipamctl migrate`
-- alone, from its list of regions. Read everywhere (GLOBAL on a multi-region cluster).
CREATE TABLE IF NOT EXISTS regions (
    name       crdb_internal_region NOT NULL,
    ordinal    INT2        NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT regions_pkey PRIMARY KEY (name),
    CONSTRAINT regions_ordinal_key UNIQUE (ordinal)
);
