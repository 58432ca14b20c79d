-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS pools (
    pool_id UUID  NOT NULL,
    region  crdb_internal_region NOT NULL, -- where it was made; a piece of data
    labels  JSONB NOT NULL DEFAULT '{}',
    CONSTRAINT pools_pkey PRIMARY KEY (pool_id)
);

CREATE TABLE IF NOT EXISTS free_blocks (
    region  crdb_internal_region NOT NULL,
    pool_id UUID  NOT NULL CONSTRAINT free_blocks_pool_fkey REFERENCES pools (pool_id),
    plen    INT2  NOT NULL CONSTRAINT free_blocks_plen_check CHECK (plen BETWEEN 0 AND 128),
    base    BYTEA NOT NULL,
    CONSTRAINT free_blocks_base_check CHECK (length(base) IN (4, 16)),
    CONSTRAINT free_blocks_pkey PRIMARY KEY (region, pool_id, plen, base)
);

CREATE TABLE IF NOT EXISTS allocations (
    region     crdb_internal_region NOT NULL,
    pool_id    UUID        NOT NULL,
    base       BYTEA       NOT NULL,
    plen       INT2        NOT NULL,
    claim_key  UUID        NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT allocations_pkey PRIMARY KEY (region, pool_id, base),
    CONSTRAINT allocations_claim_key UNIQUE (region, claim_key)
);

-- +goose Down
DROP TABLE IF EXISTS allocations;
DROP TABLE IF EXISTS free_blocks;
DROP TABLE IF EXISTS pools;
