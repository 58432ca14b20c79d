-- purpose: which of some projects have at least so many consumers, tombstones among them
-- index:   consumers_pkey
-- rows:    the consumers of each project, up to so many
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
