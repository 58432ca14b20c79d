-- purpose: a page of all pools, sorted by id, each with the record of its loans to a region, and the epoch of its rows and its stock there, if they exist
-- index:   pools_pkey, projects_pkey, pool_regions_pkey or pool_regions_region_idx, stocks_pkey, fences_pkey
-- rows:    the limit
-- locks:   none
SELECT p.id, o.name, p.name, p.region, p.base, p.plen, r.epoch, r.loan_bits, r.loaned_at, r.lasted_ms, s.epoch, f.stock
FROM pools AS p
JOIN projects AS o ON o.id = p.project_id
LEFT JOIN LATERAL (
    SELECT t.epoch, t.loan_bits, t.loaned_at, t.lasted_ms
    FROM pool_regions AS t
    WHERE t.pool_id = p.id AND t.region = $1
    LIMIT 1
) AS r ON true
LEFT JOIN LATERAL (
    SELECT u.epoch
    FROM stocks AS u
    WHERE u.region = $1 AND u.pool_id = p.id
    LIMIT 1
) AS s ON true
LEFT JOIN LATERAL (
    SELECT v.stock
    FROM fences AS v
    WHERE v.region = $1 AND v.id = p.id
    LIMIT 1
) AS f ON true
WHERE p.id > $2
ORDER BY p.id
LIMIT $3
