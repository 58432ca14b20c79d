-- purpose: all quotas of some projects, each with one of its shards
-- index:   quotas_pkey, quota_shards_pkey
-- rows:    the quotas: 16 a project at most, and mostly none
-- locks:   none
SELECT q.id, q.project_id, q.name, q.pool_project, q.pool_name, q.class_project, q.class_name, q.af, q.limit_addresses, q.limit_claims, q.limit_pools, q.overdrawn, q.description,
    q.generation, q.revision, q.created_at, q.updated_at, q.created_by,
    s.quota_id, s.shard, s.used_addresses, s.used_claims, s.used_pools, s.spare_addresses, s.spare_claims, s.spare_pools
FROM quotas AS q
CROSS JOIN LATERAL (
    SELECT h.quota_id, h.shard, h.used_addresses, h.used_claims, h.used_pools, h.spare_addresses, h.spare_claims, h.spare_pools
    FROM quota_shards AS h
    WHERE h.region = $1 AND h.quota_id = q.id AND h.shard = $3
    LIMIT 1
) AS s
WHERE q.project_id = ANY ($2::UUID[])
