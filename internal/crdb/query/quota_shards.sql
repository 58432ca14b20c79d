-- purpose: all shards of some quotas
-- index:   quota_shards_pkey
-- rows:    16 for each quota
-- locks:   none
SELECT s.quota_id, s.shard, s.used_addresses, s.used_claims, s.used_pools, s.spare_addresses, s.spare_claims, s.spare_pools
FROM quota_shards AS s
WHERE s.region = $1 AND s.quota_id = ANY ($2::UUID[])
