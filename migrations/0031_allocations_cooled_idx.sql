-- +goose NO TRANSACTION
-- +goose Up
-- serves: what has cooled down, the longest past first (cooldown_over). Few rows: only what is cooling down.
CREATE INDEX IF NOT EXISTS allocations_cooled_idx ON allocations (region, cool_until) WHERE phase = 'CoolingDown';
