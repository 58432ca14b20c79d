-- purpose: the names in the filters of a list that a project may use: its own and granted pools and spaces, pools of its classes and of its scopes, and classes
-- index:   projects_name_key, pools_name_key, pools_pkey, spaces_name_key, grants_pkey, pool_classes_pool_idx, classes_pkey, classes_name_key
-- rows:    at most one for each name; the probes of the indexes are the same whether or not the pool or space exists
-- locks:   none
SELECT 'pool', k.project, k.name
FROM unnest($3::TEXT[], $4::TEXT[]) AS k (project, name)
LEFT JOIN projects AS o ON o.name = k.project
LEFT JOIN LATERAL (
    SELECT p.id
    FROM pools AS p
    WHERE p.project_id = coalesce(o.id, '00000000-0000-0000-0000-000000000000'::UUID) AND p.name = k.name
    LIMIT 1
) AS t ON true
WHERE (k.project = $2 AND t.id IS NOT NULL)
    OR (SELECT p.scope_project_id FROM pools AS p WHERE p.id = coalesce(t.id, '00000000-0000-0000-0000-000000000000'::UUID)) = $1
    OR (
        SELECT count(*)
        FROM grants AS g
        JOIN pools AS p ON p.id = g.subject_id
        WHERE g.subject_id = coalesce(t.id, '00000000-0000-0000-0000-000000000000'::UUID) AND g.consumer IN ($2, '*') AND p.visibility = 'shared'
    ) > 0
    OR (
        SELECT count(s.id)
        FROM pool_classes AS b
        LEFT JOIN LATERAL (
            SELECT c.id
            FROM classes AS c
            WHERE c.id = b.class_id AND c.visibility = 'shared' AND c.project_id = (SELECT w.id FROM projects AS w WHERE w.name = 'platform')
            LIMIT 1
        ) AS s ON true
        WHERE b.pool_id = coalesce(t.id, '00000000-0000-0000-0000-000000000000'::UUID)
    ) > 0
UNION ALL
SELECT 'space', k.project, k.name
FROM unnest($5::TEXT[], $6::TEXT[]) AS k (project, name)
LEFT JOIN projects AS o ON o.name = k.project
LEFT JOIN LATERAL (
    SELECT p.id
    FROM spaces AS p
    WHERE p.project_id = coalesce(o.id, '00000000-0000-0000-0000-000000000000'::UUID) AND p.name = k.name
    LIMIT 1
) AS t ON true
WHERE (k.project = $2 AND t.id IS NOT NULL)
    OR (
        SELECT count(*)
        FROM grants AS g
        WHERE g.subject_id = coalesce(t.id, '00000000-0000-0000-0000-000000000000'::UUID) AND g.consumer IN ($2, '*')
    ) > 0
UNION ALL
SELECT 'class', $2::TEXT, k.name
FROM unnest($7::TEXT[]) AS k (name)
LEFT JOIN projects AS w ON w.name = 'platform'
LEFT JOIN LATERAL (SELECT c.id FROM classes AS c WHERE c.project_id = $1 AND c.name = k.name LIMIT 1) AS t ON true
LEFT JOIN LATERAL (SELECT c.visibility FROM classes AS c WHERE c.project_id = w.id AND c.name = k.name LIMIT 1) AS s ON true
WHERE t.id IS NOT NULL
    OR s.visibility = 'shared'
