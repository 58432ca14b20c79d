-- purpose: a realm's consumers of all regions of the project after a UID, by UID
-- index:   project_regions_pkey, consumers_pkey
-- rows:    the page for each of the project's regions
-- locks:   none
SELECT
    -- @columns consumer AS c
FROM project_regions AS g
CROSS JOIN LATERAL (
    SELECT
        -- @columns consumer AS t
    FROM consumers AS t
    WHERE t.region = g.region AND t.project_id = g.project_id AND t.realm = $2 AND t.uid > $3
    ORDER BY t.uid
    LIMIT $4
) AS c
WHERE g.project_id = $1
ORDER BY c.uid
LIMIT $4
