-- purpose: a project's claims on a pool, by address
-- index:   allocations_pkey, then one probe of claims_pkey for each: LATERAL with LIMIT says so whatever the statistics are
-- rows:    the page
-- locks:   none
SELECT
    -- @columns claim AS c
FROM allocations AS a
CROSS JOIN LATERAL (
    SELECT
        -- @columns claim AS t
    FROM claims AS t
    WHERE t.region = $1 AND t.project_id = $7 AND t.name = a.holder_name AND t.allocation_id = a.id
    LIMIT 1
) AS c
WHERE a.region = $1 AND a.project_id = $2 AND a.container_id = $3 AND a.base > $4 AND a.base >= $5 AND a.base <= $6
    AND a.holder_project_id = $7
ORDER BY a.base
LIMIT $8
