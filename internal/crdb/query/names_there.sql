-- purpose: which of the names in a list's filters mean something to a project: pools and spaces that are its own or granted to it, pools that its classes draw from, classes that it may use
-- index:   projects_name_key, pools_name_key, pools_pkey, spaces_name_key, grants_pkey, pool_classes_pool_idx, classes_pkey, classes_name_key
-- rows:    at most one for each name, and a probe of each index whether or not the pool or space exists
-- locks:   none
SELECT 'pool', k.project, k.name
FROM unnest($3::TEXT[], $4::TEXT[]) AS k (project, name)
CROSS JOIN LATERAL (
    SELECT coalesce((
        SELECT p.id
        FROM pools AS p
        WHERE p.project_id = (SELECT o.id FROM projects AS o WHERE o.name = k.project) AND p.name = k.name
    ), '00000000-0000-0000-0000-000000000000'::UUID) AS id
) AS t
WHERE (k.project = $2 AND t.id <> '00000000-0000-0000-0000-000000000000'::UUID)
    OR EXISTS (SELECT 1 FROM pools AS s WHERE s.id = t.id AND s.scope_project_id = $1)
    OR EXISTS (
        SELECT 1
        FROM grants AS g
        JOIN pools AS s ON s.id = g.subject_id
        WHERE g.subject_id = t.id AND g.consumer IN ($2, '*') AND s.visibility = 'shared'
    )
    OR EXISTS (
        SELECT 1
        FROM pool_classes AS b
        WHERE b.pool_id = t.id AND (
            SELECT c.visibility
            FROM classes AS c
            WHERE c.id = b.class_id AND c.project_id = (SELECT w.id FROM projects AS w WHERE w.name = 'platform')
        ) = 'shared'
    )
UNION ALL
SELECT 'space', k.project, k.name
FROM unnest($5::TEXT[], $6::TEXT[]) AS k (project, name)
CROSS JOIN LATERAL (
    SELECT coalesce((
        SELECT p.id
        FROM spaces AS p
        WHERE p.project_id = (SELECT o.id FROM projects AS o WHERE o.name = k.project) AND p.name = k.name
    ), '00000000-0000-0000-0000-000000000000'::UUID) AS id
) AS t
WHERE (k.project = $2 AND t.id <> '00000000-0000-0000-0000-000000000000'::UUID)
    OR EXISTS (SELECT 1 FROM grants AS g WHERE g.subject_id = t.id AND g.consumer IN ($2, '*'))
UNION ALL
SELECT 'class', $2::TEXT, k.name
FROM unnest($7::TEXT[]) AS k (name)
WHERE EXISTS (SELECT 1 FROM classes AS c WHERE c.project_id = $1 AND c.name = k.name)
    OR (
        SELECT c.visibility
        FROM classes AS c
        WHERE c.project_id = (SELECT w.id FROM projects AS w WHERE w.name = 'platform') AND c.name = k.name
    ) = 'shared'
