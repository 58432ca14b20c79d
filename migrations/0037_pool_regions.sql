-- +goose NO TRANSACTION
-- +goose Up
-- pool_regions: a pool in each of the regions that it serves. epoch is another one after every loan and recall, and the one that stocks has beside the
-- region's own rows; they differ only when one of them was restored. loan_bits is the size of the last loan (2^loan_bits addresses;
-- -1: none yet), loaned_at when that was, and lasted_ms how long the loan before it had lasted. Read in every claim of such a pool, written when blocks
-- are lent (GLOBAL on a multi-region cluster).
CREATE TABLE IF NOT EXISTS pool_regions (
    pool_id   UUID        NOT NULL,
    region    crdb_internal_region NOT NULL,
    epoch     UUID        NOT NULL,
    loan_bits INT2        NOT NULL,
    loaned_at TIMESTAMPTZ NOT NULL,
    lasted_ms INT8        NOT NULL,
    CONSTRAINT pool_regions_pkey PRIMARY KEY (pool_id, region),
    CONSTRAINT pool_regions_pool_fkey FOREIGN KEY (pool_id) REFERENCES pools (id)
);
