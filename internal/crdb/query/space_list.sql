-- purpose: a project's spaces after a name, by name
-- index:   spaces_name_key
-- rows:    the page
-- locks:   none
SELECT id, project_id, name, container_v4, container_v6, region, description, labels, annotations, generation, revision, created_at, updated_at, created_by
FROM spaces
WHERE project_id = $1 AND name > $2
ORDER BY name
LIMIT $3
