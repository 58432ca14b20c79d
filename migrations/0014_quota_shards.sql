-- +goose NO TRANSACTION
-- +goose Up
-- quota_shards: the figures of a quota, in 16 rows, so that transactions on different pools seldom meet in one. For each
-- bounded measure the spare of all shards adds up to the limit less what is used; it is 0 for what is not bounded.
-- Pages are filled by half, so that PostgreSQL can keep the new version of a row beside the old one: then no index entry is
-- made, and transactions on other shards of the same page do not conflict.
CREATE TABLE IF NOT EXISTS quota_shards (
    region          crdb_internal_region NOT NULL,
    quota_id        UUID    NOT NULL,
    shard           INT2    NOT NULL,
    used_addresses  DECIMAL NOT NULL,
    used_claims     INT8    NOT NULL,
    used_pools      INT8    NOT NULL,
    spare_addresses DECIMAL NOT NULL,
    spare_claims    INT8    NOT NULL,
    spare_pools     INT8    NOT NULL,
    CONSTRAINT quota_shards_pkey PRIMARY KEY (region, quota_id, shard)
) WITH (fillfactor = 50);
