-- purpose: a project's spaces whose names begin with a text, sorted by name
-- index:   spaces_name_key
-- rows:    the limit
-- locks:   none
SELECT
    -- @columns space
FROM spaces
WHERE project_id = $1 AND name >= $2 AND name < $3
ORDER BY name
LIMIT $4
