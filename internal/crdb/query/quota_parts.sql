-- purpose: all quotas of some projects, each with one of its shards in a region; a quota that has none there says shard -1
-- index:   quotas_pkey, quota_shards_pkey
-- rows:    the quotas: 16 a project at most, and mostly none
-- locks:   none
SELECT q.id, q.project_id, q.name, q.pool_project, q.pool_name, q.class_project, q.class_name, q.af, q.limit_addresses, q.limit_claims, q.limit_pools, q.overdrawn, q.description,
    q.generation, q.revision, q.created_at, q.updated_at, q.created_by, q.owner,
    q.id, coalesce(s.shard, -1::INT2), coalesce(s.used_addresses, 0::DECIMAL), coalesce(s.used_claims, 0::INT8), coalesce(s.used_pools, 0::INT8),
    coalesce(s.spare_addresses, 0::DECIMAL), coalesce(s.spare_claims, 0::INT8), coalesce(s.spare_pools, 0::INT8)
FROM quotas AS q
LEFT JOIN LATERAL (
    SELECT h.shard, h.used_addresses, h.used_claims, h.used_pools, h.spare_addresses, h.spare_claims, h.spare_pools
    FROM quota_shards AS h
    WHERE h.region = $1 AND h.quota_id = q.id AND h.shard = $3
    LIMIT 1
) AS s ON true
WHERE q.project_id = ANY ($2::UUID[])
