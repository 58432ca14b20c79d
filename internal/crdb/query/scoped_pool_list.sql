-- purpose: a page of the pools that were carved for scopes, after a given id, each with its class and whether it holds blocks other than reservations
-- index:   pools_scoped_idx, projects_pkey, classes_pkey, holds_pkey
-- rows:    the page, and one probe of holds for each pool
-- locks:   none
-- The second half of the UNION never returns a row. Because of it CockroachDB runs the first half once for each row, and reads no more than its limit.
SELECT
    -- @columns pool AS p,
    o.name AS project, c.spec AS class_spec, h.n > 0 AS held
FROM (
    SELECT
        -- @columns pool AS t,
        t.scope_class_id
    FROM pools AS t
    WHERE t.region = $1 AND t.id > $2 AND t.scope_key IS NOT NULL
    ORDER BY t.id
    LIMIT $3
) AS p
JOIN projects AS o ON o.id = p.project_id
JOIN classes AS c ON c.id = p.scope_class_id
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
ORDER BY p.id
