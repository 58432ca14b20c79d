-- purpose: pools of some projects whose names begin with a text, by name and project, without what may be large
-- index:   pools_name_key, projects_pkey
-- rows:    the limit for each project
-- locks:   none
SELECT
    -- @columns pool_lean AS p,
    o.name AS project
FROM unnest($1::UUID[]) AS k (project_id)
CROSS JOIN LATERAL (
    SELECT
        -- @columns pool_lean AS t
    FROM pools AS t
    WHERE t.project_id = k.project_id AND t.name >= $2 AND t.name < $3
    ORDER BY t.name
    LIMIT $4
) AS p
JOIN projects AS o ON o.id = p.project_id
ORDER BY p.name, o.name
LIMIT $4
