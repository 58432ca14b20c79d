-- purpose: a project's shared pools that are granted to a consumer, by name or to everybody, and carry all of some labels, after a name, by name
-- index:   projects_name_key, pools_name_key, grants_pkey
-- rows:    the project's pools up to the end of the page, and a probe or two of grants for each
-- locks:   none
SELECT
    -- @columns pool AS p,
    o.name AS project
FROM projects AS o
JOIN pools AS p ON p.project_id = o.id
CROSS JOIN LATERAL (
    SELECT t.id
    FROM grants AS t
    WHERE t.subject_id = p.id AND t.consumer IN ($2, '*')
    LIMIT 1
) AS g
WHERE o.name = $1 AND p.visibility = 'shared' AND p.labels @> $3::JSONB AND p.name > $4
ORDER BY p.name
LIMIT $5
