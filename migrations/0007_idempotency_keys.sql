-- +goose NO TRANSACTION
-- +goose Up
-- idempotency_keys: the answer to a POST, stored in the transaction that had its effect.
-- answer is the stored domain value as JSON bytes; fingerprint is the SHA-256 of the operation and the request.
CREATE TABLE IF NOT EXISTS idempotency_keys (
    region      crdb_internal_region NOT NULL,
    project_id  UUID        NOT NULL,
    key         TEXT        NOT NULL,
    fingerprint BYTEA       NOT NULL,
    answer      BYTEA       NOT NULL,
    created_at  TIMESTAMPTZ NOT NULL,
    expires_at  TIMESTAMPTZ NOT NULL,
    CONSTRAINT idempotency_keys_pkey PRIMARY KEY (region, project_id, key)
);
