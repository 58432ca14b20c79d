-- purpose: a page of a project's shared pools that are granted to a consumer or to all and have all the given labels, after a given name, sorted by name
-- index:   projects_name_key, pools_name_key, grants_pkey
-- rows:    the project's pools up to the end of the page, and one or two probes of grants for each
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
