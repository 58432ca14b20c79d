-- purpose: the pools of the given projects that list a class, sorted by name and project; without reservations, texts and labels, which may be large and which no claim needs
-- index:   pool_classes_pkey, pools_pkey, projects_pkey
-- rows:    the limit for each project
-- locks:   none
SELECT
    -- @columns pool_lean AS p,
    o.name AS project
FROM unnest($2::UUID[]) AS w (project_id)
CROSS JOIN LATERAL (
    SELECT b.pool_id
    FROM pool_classes AS b
    WHERE b.class_id = $1 AND b.project_id = w.project_id
    ORDER BY b.pool_name
    LIMIT $3
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
