-- purpose: add the shards of a quota
-- index:   quota_shards_pkey
-- rows:    one for each shard
-- locks:   the new rows
INSERT INTO quota_shards (
    region,
    -- @columns shard_row
)
SELECT
    $1::crdb_internal_region,
    -- @values shard_row FROM $2
-- @from shard_row FROM $2
