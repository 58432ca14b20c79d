-- purpose: one space of a project by name
-- index:   spaces_name_key
-- rows:    1
-- locks:   none
SELECT
    -- @columns space
FROM spaces
WHERE project_id = $1 AND name = $2
