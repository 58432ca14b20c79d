-- purpose: the class that a name selects in a project: the project's own class, otherwise the platform's shared class
-- index:   projects_name_key, classes_name_key
-- rows:    1
-- locks:   none
SELECT
    -- @columns class AS c,
    o.name AS project
FROM projects AS o
CROSS JOIN LATERAL (
    SELECT
        -- @columns class AS k,
        k.visibility
    FROM classes AS k
    WHERE k.project_id = o.id AND k.name = $3
    LIMIT 1
) AS c
WHERE o.name IN ($2, 'platform') AND (o.id = $1 OR (o.name = 'platform' AND c.visibility = 'shared'))
ORDER BY CASE WHEN o.id = $1 THEN 0 ELSE 1 END
LIMIT 1
