-- purpose: the projects among the given names that exist
-- index:   projects_name_key
-- rows:    one for each name
-- locks:   none
SELECT
    -- @columns project
FROM projects
WHERE name = ANY ($1::TEXT[])
ORDER BY name
