-- purpose: classes of some projects whose names begin with a text, by name and project
-- index:   classes_name_key, projects_pkey
-- rows:    the limit for each project
-- locks:   none
SELECT
    -- @columns class AS c,
    o.name AS project
FROM unnest($1::UUID[]) AS k (project_id)
CROSS JOIN LATERAL (
    SELECT
        -- @columns class AS t
    FROM classes AS t
    WHERE t.project_id = k.project_id AND t.name >= $2 AND t.name < $3
    ORDER BY t.name
    LIMIT $4
) AS c
JOIN projects AS o ON o.id = c.project_id
ORDER BY c.name, o.name
LIMIT $4
