-- purpose: one member of a project by subject
-- index:   members_pkey or members_subject_key
-- rows:    1
-- locks:   none
SELECT m.id, m.subject, m.role, m.generation, m.revision, m.created_at, m.updated_at, m.created_by
FROM members AS m
WHERE m.project_id = $1 AND m.subject = $2
