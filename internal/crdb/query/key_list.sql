-- purpose: a project's keys after a name, by name
-- index:   api_keys_name_key, projects_pkey
-- rows:    the page
-- locks:   none
SELECT k.id, k.project_id, o.name, k.name, k.hash, k.role, k.description, k.expires_at, k.last_used_at, k.labels, k.annotations,
    k.generation, k.revision, k.created_at, k.updated_at, k.created_by
FROM api_keys AS k
JOIN projects AS o ON o.id = k.project_id
WHERE k.project_id = $1 AND k.name > $2
ORDER BY k.name
LIMIT $3
