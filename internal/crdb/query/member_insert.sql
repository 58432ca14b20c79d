-- purpose: make a subject a member of a project
-- index:   members_pkey
-- rows:    1
-- locks:   the new row
INSERT INTO members (
    project_id,
    -- @columns member
)
VALUES (
    $1,
    -- @params member FROM $2
)
