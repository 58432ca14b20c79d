-- purpose: a project's quotas after a name, by name, with what is used
-- index:   quotas_pkey, quota_shards_pkey
-- rows:    the page, and 16 shards for each
-- locks:   none
SELECT q.id, q.project_id, q.name, q.pool_project, q.pool_name, q.class_project, q.class_name, q.af, q.limit_addresses, q.limit_claims, q.limit_pools, q.overdrawn, q.description,
    q.generation, q.revision, q.created_at, q.updated_at, q.created_by,
    coalesce(u.addresses, 0::DECIMAL), coalesce(u.claims, 0::DECIMAL)::INT8, coalesce(u.pools, 0::DECIMAL)::INT8
FROM quotas AS q
CROSS JOIN LATERAL (
    SELECT sum(s.used_addresses) AS addresses, sum(s.used_claims) AS claims, sum(s.used_pools) AS pools
    FROM quota_shards AS s
    WHERE s.region = $1 AND s.quota_id = q.id
) AS u
WHERE q.project_id = $2 AND q.name > $3
ORDER BY q.name
LIMIT $4
