-- purpose: another project's shared pool by project and name, if it is granted to one of the given consumers; a pool without such a grant takes the same probes as a missing pool, so that the response time does not reveal it
-- index:   projects_name_key, pools_name_key, grants_pkey, pools_pkey, projects_pkey
-- rows:    1, and one probe for each consumer
-- locks:   none
SELECT
    -- @columns pool AS p,
    o.name AS project
FROM (
    SELECT t.subject_id
    FROM (VALUES (1)) AS one (one)
    LEFT JOIN projects AS n ON n.name = $1
    LEFT JOIN LATERAL (
        SELECT q.id
        FROM pools AS q
        WHERE q.project_id = coalesce(n.id, '00000000-0000-0000-0000-000000000000'::UUID) AND q.name = $2
        LIMIT 1
    ) AS i ON true
    CROSS JOIN unnest($3::TEXT[]) AS k (consumer)
    CROSS JOIN LATERAL (
        SELECT u.subject_id
        FROM grants AS u
        WHERE u.subject_id = coalesce(i.id, '00000000-0000-0000-0000-000000000000'::UUID) AND u.consumer = k.consumer
        LIMIT 1
    ) AS t
    LIMIT 1
) AS g
JOIN pools AS p ON p.id = g.subject_id
JOIN projects AS o ON o.id = p.project_id
WHERE p.visibility = 'shared'
