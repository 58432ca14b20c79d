-- +goose NO TRANSACTION
-- +goose Up
-- serves: which pools are served in a region, for those who look after its stock (pool_list_serving)
CREATE INDEX IF NOT EXISTS pool_regions_region_idx ON pool_regions (region, pool_id);
