-- purpose: one key by the id in its token
-- index:   api_keys_pkey, projects_pkey
-- rows:    1
-- locks:   none
SELECT
    -- @columns key AS k,
    o.name AS project
FROM api_keys AS k
JOIN projects AS o ON o.id = k.project_id
WHERE k.id = $1
