-- purpose: all shards of some quotas, of all regions
-- index:   regions_ordinal_key, quota_shards_pkey
-- rows:    16 for each quota in each region
-- locks:   none
SELECT s.region, s.quota_id, s.shard, s.used_addresses, s.used_claims, s.used_pools, s.spare_addresses, s.spare_claims, s.spare_pools
FROM quota_shards AS s
WHERE s.region = ANY (ARRAY(SELECT g.name FROM regions AS g WHERE g.ordinal >= 0)) AND s.quota_id = ANY ($1::UUID[])
