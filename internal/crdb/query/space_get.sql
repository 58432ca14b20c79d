-- purpose: one space of a project by name
-- index:   spaces_name_key
-- rows:    1
-- locks:   none
SELECT id, project_id, name, container_v4, container_v6, region, description, labels, annotations, generation, revision, created_at, updated_at, created_by
FROM spaces
WHERE project_id = $1 AND name = $2
