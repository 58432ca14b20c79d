-- purpose: a page of a project's keys after a given name, sorted by name
-- index:   api_keys_name_key, projects_pkey
-- rows:    the page
-- locks:   none
SELECT
    -- @columns key AS k,
    o.name AS project
FROM api_keys AS k
JOIN projects AS o ON o.id = k.project_id
WHERE k.project_id = $1 AND k.name > $2
ORDER BY k.name
LIMIT $3
