-- purpose: all shards of given quotas in all regions, locked against changes by other transactions
-- index:   regions_ordinal_key, quota_shards_pkey
-- rows:    16 for each quota in each region
-- locks:   the rows
SELECT
    -- @columns shard AS s
FROM quota_shards AS s
WHERE s.region = ANY (ARRAY(SELECT g.name FROM regions AS g WHERE g.ordinal >= 0)) AND s.quota_id = ANY ($1::UUID[])
FOR UPDATE OF s
