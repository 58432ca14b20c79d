-- +goose NO TRANSACTION
-- +goose Up
-- free_blocks: every free block is one row; together with allocations they tile their container.
-- host_bits is the size of the block: 2^host_bits addresses (32 - prefix length for IPv4, 128 - prefix length for IPv6).
-- All columns are the key and there is no other index: one index to scan and to delete from. Key order (host_bits, base)
-- makes "the tightest block that fits, the lowest of those first" one forward scan of it.
CREATE TABLE IF NOT EXISTS free_blocks (
    region       crdb_internal_region NOT NULL,
    container_id UUID  NOT NULL,
    host_bits    INT2  NOT NULL,
    base         BYTEA NOT NULL,
    CONSTRAINT free_blocks_pkey PRIMARY KEY (region, container_id, host_bits, base)
);
