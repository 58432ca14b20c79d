-- purpose: the usage in a quota's shards, over all regions, equals the project's holdings; the spare amounts equal the limit minus the usage
-- index:   none: the audit reads whole tables, in one snapshot, outside of the hot path
-- rows:    all
-- locks:   none
-- region:  every, because an audit is about all of them
WITH sizes AS (
    SELECT holder_project_id AS project_id, doc::JSONB ->> 'p' AS pool, coalesce(doc::JSONB ->> 'c', '') AS class, length(base)::INT8 AS width,
        length(base)::INT4 * 8 - plen::INT4 AS host_bits, CASE WHEN name IS NOT NULL THEN 1::INT8 ELSE 0::INT8 END AS claims
    FROM holds
    WHERE name IS NOT NULL OR phase = 'Retained'
),
held AS (
    SELECT project_id, pool, class, width, sum(CASE WHEN host_bits <= 62 THEN (1::INT8 << host_bits)::DECIMAL
        WHEN host_bits <= 124 THEN (1::INT8 << (host_bits - 62))::DECIMAL * 4611686018427387904::DECIMAL
        ELSE (1::INT8 << (host_bits - 124))::DECIMAL * 21267647932558653966460912964485513216::DECIMAL
        END) AS addresses, sum(claims) AS claims, 0::DECIMAL AS pools
    FROM sizes
    GROUP BY project_id, pool, class, width
    UNION ALL
    SELECT project_id, parent_project || '/' || parent_name AS pool, '' AS class, length(base)::INT8 AS width, 0::DECIMAL AS addresses, 0::DECIMAL AS claims, 1::DECIMAL AS pools
    FROM pools
    WHERE scope_class_id IS NULL
    UNION ALL
    SELECT scope_project_id AS project_id, parent_project || '/' || parent_name AS pool, (scope -> 'class' -> 'ref' ->> 'project') || '/' || (scope -> 'class' -> 'ref' ->> 'name') AS class,
        length(base)::INT8 AS width, 0::DECIMAL AS addresses, 0::DECIMAL AS claims, 1::DECIMAL AS pools
    FROM pools
    WHERE scope_class_id IS NOT NULL
),
truth AS (
    SELECT q.id, coalesce(sum(h.addresses), 0::DECIMAL) AS addresses, coalesce(sum(h.claims), 0::DECIMAL) AS claims, coalesce(sum(h.pools), 0::DECIMAL) AS pools
    FROM quotas AS q
    LEFT JOIN held AS h ON h.project_id = q.project_id AND (q.pool_name = '' OR h.pool = q.pool_project || '/' || q.pool_name)
        AND (q.class_name = '' OR h.class = q.class_project || '/' || q.class_name)
        AND (q.af = 0 OR h.width = CASE q.af WHEN 4 THEN 4::INT8 ELSE 16::INT8 END)
    GROUP BY q.id
),
told AS (
    SELECT quota_id,
        sum(used_addresses) AS addresses, sum(used_claims) AS claims, sum(used_pools) AS pools,
        sum(spare_addresses) AS spare_addresses, sum(spare_claims) AS spare_claims, sum(spare_pools) AS spare_pools
    FROM quota_shards
    GROUP BY quota_id
)
SELECT q.id::TEXT, 'quota ' || q.name || ' has no shards'
FROM quotas AS q
WHERE NOT EXISTS (SELECT 1 FROM told AS s WHERE s.quota_id = q.id)
UNION ALL
SELECT q.id::TEXT, 'quota ' || q.name || ' has ' || count(*)::TEXT || ' shards of 16 in region ' || h.region::TEXT
FROM quotas AS q
JOIN quota_shards AS h ON h.quota_id = q.id
GROUP BY q.id, q.name, h.region
HAVING count(*) <> 16 OR min(h.shard) <> 0 OR max(h.shard) <> 15
UNION ALL
SELECT s.quota_id::TEXT, 'shards of a quota that is not there'
FROM told AS s
WHERE NOT EXISTS (SELECT 1 FROM quotas AS q WHERE q.id = s.quota_id)
UNION ALL
SELECT q.id::TEXT, 'quota ' || q.name || ' says ' || s.addresses::TEXT || ' addresses, ' || s.claims::TEXT || ' claims, ' || s.pools::TEXT
    || ' pools; held are ' || t.addresses::TEXT || ', ' || t.claims::TEXT || ', ' || t.pools::TEXT
FROM quotas AS q
JOIN told AS s ON s.quota_id = q.id
JOIN truth AS t ON t.id = q.id
WHERE s.addresses <> t.addresses OR s.claims <> t.claims OR s.pools <> t.pools
UNION ALL
SELECT q.id::TEXT, 'quota ' || q.name || ' has other figures to spare than its limits less what is used'
FROM quotas AS q
JOIN told AS s ON s.quota_id = q.id
WHERE (q.limit_addresses IS NOT NULL AND s.spare_addresses <> q.limit_addresses - s.addresses)
    OR (q.limit_claims IS NOT NULL AND s.spare_claims <> q.limit_claims::DECIMAL - s.claims)
    OR (q.limit_pools IS NOT NULL AND s.spare_pools <> q.limit_pools::DECIMAL - s.pools)
UNION ALL
SELECT q.id::TEXT, 'quota ' || q.name || ', shard ' || h.shard::TEXT || ': spare of what is not bounded'
FROM quotas AS q
JOIN quota_shards AS h ON h.quota_id = q.id
WHERE (q.limit_addresses IS NULL AND h.spare_addresses <> 0::DECIMAL) OR (q.limit_claims IS NULL AND h.spare_claims <> 0) OR (q.limit_pools IS NULL AND h.spare_pools <> 0)
UNION ALL
SELECT q.id::TEXT, 'quota ' || q.name || ', shard ' || h.shard::TEXT || ': less than nothing to spare, and nothing says that a limit is below what is used'
FROM quotas AS q
JOIN quota_shards AS h ON h.quota_id = q.id
WHERE NOT q.overdrawn AND (h.spare_addresses < 0::DECIMAL OR h.spare_claims < 0 OR h.spare_pools < 0)
UNION ALL
SELECT q.id::TEXT, 'quota ' || q.name || ' has a limit below what is used, and nothing says so'
FROM quotas AS q
JOIN told AS s ON s.quota_id = q.id
WHERE NOT q.overdrawn AND (s.addresses > q.limit_addresses OR s.claims > q.limit_claims::DECIMAL OR s.pools > q.limit_pools::DECIMAL)
