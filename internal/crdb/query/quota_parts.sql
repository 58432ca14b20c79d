-- purpose: all quotas of given projects, each with one of its shards in a region; shard -1 if the region has none
-- index:   quotas_pkey, quota_shards_pkey
-- rows:    the quotas: at most 16 for each project, and mostly none
-- locks:   none
SELECT
    -- @columns quota AS q,
    q.id AS quota_id, coalesce(s.shard, -1::INT2) AS shard,
    coalesce(s.used_addresses, 0::DECIMAL) AS used_addresses, coalesce(s.used_claims, 0::INT8) AS used_claims, coalesce(s.used_pools, 0::INT8) AS used_pools,
    coalesce(s.spare_addresses, 0::DECIMAL) AS spare_addresses, coalesce(s.spare_claims, 0::INT8) AS spare_claims, coalesce(s.spare_pools, 0::INT8) AS spare_pools
FROM quotas AS q
LEFT JOIN LATERAL (
    SELECT
        -- @columns shard_figures AS h,
        h.shard
    FROM quota_shards AS h
    WHERE h.region = $1 AND h.quota_id = q.id AND h.shard = $3
    LIMIT 1
) AS s ON true
WHERE q.project_id = ANY ($2::UUID[])
