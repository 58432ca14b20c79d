-- purpose: the default class of a family in a project
-- index:   classes_default_key, projects_pkey
-- rows:    1
-- locks:   none
SELECT c.id, c.project_id, o.name, c.name, c.spec, c.labels, c.annotations, c.generation, c.revision, c.created_at, c.updated_at, c.created_by
FROM classes AS c
JOIN projects AS o ON o.id = c.project_id
WHERE c.project_id = $1 AND c.af = $2 AND c.is_default
