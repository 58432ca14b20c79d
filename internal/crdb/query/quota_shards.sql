-- purpose: all shards of given quotas in all regions
-- index:   regions_ordinal_key, quota_shards_pkey
-- rows:    16 for each quota in each region
-- locks:   none
SELECT
    -- @columns shard AS s
FROM quota_shards AS s
WHERE s.region = ANY (ARRAY(SELECT g.name FROM regions AS g WHERE g.ordinal >= 0)) AND s.quota_id = ANY ($1::UUID[])
