-- +goose NO TRANSACTION
-- +goose Up
-- region_blocks: the blocks of a pool that its home has lent to another region. With what is free and held at home they tile the pool; what is free and held
-- in a region tiles what it was lent. One row for one block: the same address cannot be lent twice (GLOBAL on a multi-region cluster).
CREATE TABLE IF NOT EXISTS region_blocks (
    pool_id UUID        NOT NULL,
    base    BYTEA       NOT NULL,
    plen    INT2        NOT NULL,
    region  crdb_internal_region NOT NULL,
    lent_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT region_blocks_pkey PRIMARY KEY (pool_id, base),
    CONSTRAINT region_blocks_pool_fkey FOREIGN KEY (pool_id) REFERENCES pools (id)
);
