-- purpose: the projects among the given ones that have at least a given number of consumers, tombstones included
-- index:   consumers_pkey
-- rows:    the consumers of each project, up to that number
-- locks:   none
SELECT k.id
FROM unnest($2::UUID[]) AS k (id)
CROSS JOIN LATERAL (
    SELECT t.uid
    FROM consumers AS t
    WHERE t.region = $1 AND t.project_id = k.id
    ORDER BY t.realm, t.uid
    LIMIT 1 OFFSET $3
) AS c
