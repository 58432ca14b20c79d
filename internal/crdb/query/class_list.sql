-- purpose: all classes that a project may use, its own and the platform's shared ones, sorted by name; of two with one name, the project's own comes first
-- index:   projects_name_key, classes_name_key
-- rows:    256 for each of the two projects
-- locks:   none
SELECT
    -- @columns class AS c,
    o.name AS project
FROM projects AS o
JOIN classes AS c ON c.project_id = o.id
WHERE o.name IN ($2, 'platform') AND (o.id = $1 OR (o.name = 'platform' AND c.visibility = 'shared'))
ORDER BY c.name, CASE WHEN o.id = $1 THEN 0 ELSE 1 END
