-- purpose: a page of the multi-region pools that a region serves
-- index:   pool_regions_region_idx, pools_pkey, projects_pkey
-- rows:    the limit
-- locks:   none
SELECT
    -- @columns pool AS p,
    o.name AS project
FROM pool_regions AS r
JOIN pools AS p ON p.id = r.pool_id
JOIN projects AS o ON o.id = p.project_id
WHERE r.region = $1 AND r.pool_id > $2
ORDER BY r.pool_id
LIMIT $3
