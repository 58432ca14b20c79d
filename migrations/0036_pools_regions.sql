-- +goose NO TRANSACTION
-- +goose Up
-- regions: where a pool is served, its home (region) among them, in the caller's order; empty: at home alone. Of such a pool, and of no other,
-- pool_regions and stocks have a row for each of its regions, and region_blocks one for each block that its home has lent to another.
ALTER TABLE pools
    ADD COLUMN IF NOT EXISTS regions JSONB NOT NULL DEFAULT '[]';
