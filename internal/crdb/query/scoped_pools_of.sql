-- purpose: a page of the pools of a project's scopes of a class, after a given scope, sorted by scope
-- index:   pools_scope_key, projects_pkey
-- rows:    the page
-- locks:   none
SELECT
    -- @columns pool AS p,
    o.name AS project
FROM (
    SELECT
        -- @columns pool AS t,
        t.scope_key
    FROM pools AS t
    WHERE t.scope_class_id = $1 AND t.scope_project_id = $2 AND t.scope_key > $3 AND t.scope_class_id IS NOT NULL
    ORDER BY t.scope_key
    LIMIT $4
) AS p
JOIN projects AS o ON o.id = p.project_id
ORDER BY p.scope_key
