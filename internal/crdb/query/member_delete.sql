-- purpose: delete a member at the revision that was read
-- index:   members_pkey or members_subject_key
-- rows:    1
-- locks:   the row
DELETE FROM members
WHERE project_id = $1 AND subject = $2 AND revision = $3
