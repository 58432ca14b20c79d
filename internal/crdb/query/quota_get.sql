-- purpose: one quota of a project by name, with the usage in all regions
-- index:   quotas_pkey, regions_ordinal_key, quota_shards_pkey
-- rows:    1, and the 16 shards of the quota in each region
-- locks:   none
SELECT
    -- @columns quota AS q,
    coalesce(u.addresses, 0::DECIMAL) AS used_addresses, coalesce(u.claims, 0::DECIMAL)::INT8 AS used_claims,
    coalesce(u.pools, 0::DECIMAL)::INT8 AS used_pools
FROM quotas AS q
CROSS JOIN LATERAL (
    SELECT sum(s.used_addresses) AS addresses, sum(s.used_claims) AS claims, sum(s.used_pools) AS pools
    FROM quota_shards AS s
    WHERE s.region = ANY (ARRAY(SELECT g.name FROM regions AS g WHERE g.ordinal >= 0)) AND s.quota_id = q.id
) AS u
WHERE q.project_id = $1 AND q.name = $2
