-- +goose NO TRANSACTION
-- +goose Up
-- serves: pools eligible for a claim's poolSelector (pool_list_by_labels)
CREATE INDEX IF NOT EXISTS pools_labels_idx ON pools USING gin (labels);
