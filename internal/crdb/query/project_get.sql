-- purpose: one project by name
-- index:   projects_name_key
-- rows:    1
-- locks:   none
SELECT
    -- @columns project
FROM projects
WHERE name = $1
