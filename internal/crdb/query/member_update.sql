-- purpose: replace the mutable columns of a member at the revision that was read
-- index:   members_pkey or members_subject_key
-- rows:    1
-- locks:   the row
UPDATE members
SET
    -- @set member_rule FROM $4
WHERE project_id = $1 AND subject = $2 AND revision = $3
