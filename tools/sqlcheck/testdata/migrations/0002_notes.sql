-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE allocations ADD COLUMN IF NOT EXISTS note TEXT NOT NULL DEFAULT '';
CREATE INDEX IF NOT EXISTS allocations_by_plen ON allocations (region, pool_id, plen);
