-- purpose: a page of a project's spaces after a given name, sorted by name
-- index:   spaces_name_key
-- rows:    the page
-- locks:   none
SELECT
    -- @columns space
FROM spaces
WHERE project_id = $1 AND name > $2
ORDER BY name
LIMIT $3
