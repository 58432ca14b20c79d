-- +goose NO TRANSACTION
-- +goose Up
-- serves: batched deletion of expired keys (idempotency_expire)
CREATE INDEX IF NOT EXISTS idempotency_keys_expires_idx ON idempotency_keys (region, expires_at);
