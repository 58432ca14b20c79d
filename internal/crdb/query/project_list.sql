-- purpose: a page of projects after a given name, sorted by name
-- index:   projects_name_key
-- rows:    the page
-- locks:   none
-- roles:   server, retention
SELECT
    -- @columns project
FROM projects
WHERE name > $1
ORDER BY name
LIMIT $2
