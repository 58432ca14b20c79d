-- purpose: pools that are drained for deletion and hold only reservations in their home region
-- index:   pools_drained_idx, projects_pkey, holds_pkey
-- rows:    the pools of a region that are drained for deletion, which are few, and one probe of holds for each
-- locks:   none
-- The second half of the UNION never returns a row. Because of it CockroachDB runs the first half once for each row, and reads no more than its limit.
SELECT
    -- @columns pool AS p,
    o.name AS project
FROM pools AS p
JOIN projects AS o ON o.id = p.project_id
CROSS JOIN LATERAL (
    SELECT count(*) AS n
    FROM (
        (
            SELECT a.base
            FROM holds AS a
            WHERE a.region = $1 AND a.project_id = p.project_id AND a.container_id = p.id AND a.purpose <> 'Reservation'
            ORDER BY a.base
            LIMIT 1
        )
        UNION ALL
        (
            SELECT a.base
            FROM holds AS a
            WHERE p.plen < 0 AND a.region = $1 AND a.project_id = p.project_id AND a.container_id = p.id
            ORDER BY a.base
            LIMIT 1
        )
    ) AS f
) AS h
WHERE p.region = $1 AND p.drain = 'Delete' AND h.n = 0
ORDER BY p.id
LIMIT $2
