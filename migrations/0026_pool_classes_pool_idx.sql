-- +goose NO TRANSACTION
-- +goose Up
-- serves: giving up what a pool backs, when it lists other classes or is deleted (pool_class_delete)
CREATE INDEX IF NOT EXISTS pool_classes_pool_idx ON pool_classes (pool_id);
