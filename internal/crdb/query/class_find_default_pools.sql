-- purpose: the pools that list a project's default class of an address family: pools of the class's project and of the project itself, sorted by name and project; without reservations, texts and labels, which may be large and which no claim needs
-- index:   projects_name_key, classes_default_key, pool_classes_pkey, pools_pkey, projects_pkey
-- rows:    the limit for each of the two projects
-- locks:   none
SELECT
    -- @columns pool_lean AS p,
    o.name AS project
FROM (
    SELECT c.id, c.project_id
    FROM projects AS w
    CROSS JOIN LATERAL (
        SELECT n.id, n.project_id, n.visibility
        FROM classes AS n
        WHERE n.project_id = w.id AND n.af = $3 AND n.is_default
        LIMIT 1
    ) AS c
    WHERE w.name IN ($2, 'platform') AND (w.id = $1 OR (w.name = 'platform' AND c.visibility = 'shared'))
    ORDER BY CASE WHEN w.id = $1 THEN 0 ELSE 1 END
    LIMIT 1
) AS k
CROSS JOIN unnest(ARRAY[true, false]) AS s (own)
CROSS JOIN LATERAL (
    SELECT b.pool_id
    FROM pool_classes AS b
    WHERE b.class_id = k.id AND b.project_id = CASE WHEN s.own THEN $1 ELSE k.project_id END AND (s.own OR k.project_id <> $1)
    ORDER BY b.pool_name
    LIMIT $4
) AS m
CROSS JOIN LATERAL (
    SELECT
        -- @columns pool_lean AS t
    FROM pools AS t
    WHERE t.id = m.pool_id
    LIMIT 1
) AS p
JOIN projects AS o ON o.id = p.project_id
ORDER BY p.name, o.name
