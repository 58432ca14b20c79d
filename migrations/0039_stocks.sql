-- +goose NO TRANSACTION
-- +goose Up
-- stocks: the epoch of a pool's rows in a region, which lives where they do and goes with them into every backup and out of it.
CREATE TABLE IF NOT EXISTS stocks (
    region  crdb_internal_region NOT NULL,
    pool_id UUID NOT NULL,
    epoch   UUID NOT NULL,
    CONSTRAINT stocks_pkey PRIMARY KEY (region, pool_id)
);
