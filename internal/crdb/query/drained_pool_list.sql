-- purpose: pools that are drained to be deleted and in which nothing but reservations is held at home
-- index:   pools_drained_idx, projects_pkey, holds_pkey
-- rows:    the pools that are drained to be deleted, in a region: few; and a probe of holds for each
-- locks:   none
-- The second half of a UNION answers nothing, ever: for it CockroachDB plans the first half anew for each row, and so reads no more than its limit.
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
