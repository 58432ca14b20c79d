-- +goose NO TRANSACTION
-- +goose Up
-- serves: what is cooling down in a container, by size (stock_cooling), and when the first of a size will have (cooldown_next)
CREATE INDEX IF NOT EXISTS allocations_cooling_idx ON allocations (region, container_id, plen, cool_until) WHERE phase = 'CoolingDown';
