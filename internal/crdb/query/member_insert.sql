-- purpose: make a subject a member of a project
-- index:   members_pkey
-- rows:    1
-- locks:   the new row
INSERT INTO members (id, project_id, subject, role, generation, revision, created_at, updated_at, created_by)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
