-- purpose: classes that a project may use, by name; of two with one name, the project's own comes first
-- index:   projects_name_key, classes_name_key
-- rows:    two for each name
-- locks:   none
SELECT
    -- @columns class AS c,
    o.name AS project
FROM projects AS o
JOIN classes AS c ON c.project_id = o.id
WHERE o.name IN ($2, 'platform') AND c.name = ANY ($3::TEXT[]) AND (o.id = $1 OR (o.name = 'platform' AND c.visibility = 'shared'))
ORDER BY c.name, CASE WHEN o.id = $1 THEN 0 ELSE 1 END
