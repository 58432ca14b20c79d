-- purpose: one member of a project by subject
-- index:   members_pkey or members_subject_key
-- rows:    1
-- locks:   none
SELECT
    -- @columns member AS m
FROM members AS m
WHERE m.project_id = $1 AND m.subject = $2
