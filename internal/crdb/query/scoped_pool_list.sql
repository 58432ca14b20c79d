-- purpose: pools that were carved for scopes, after an id, each with its class and with whether anything but reservations is held in it
-- index:   pools_scoped_idx, projects_pkey, classes_pkey, holds_pkey
-- rows:    the page, and a probe of holds for each
-- locks:   none
-- The second half of a UNION answers nothing, ever: for it CockroachDB plans the first half anew for each row, and so reads no more than its limit.
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
