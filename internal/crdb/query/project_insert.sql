-- purpose: create a project
-- index:   projects_pkey
-- rows:    1
-- locks:   the new row
INSERT INTO projects (
    -- @columns project
)
VALUES (
    -- @params project FROM $1
)
