-- +goose NO TRANSACTION
-- +goose Up
-- serves: how many claims a class has served, before it is deleted (class_use)
CREATE INDEX IF NOT EXISTS claims_class_idx ON claims (region, class_id) WHERE class_id IS NOT NULL;
