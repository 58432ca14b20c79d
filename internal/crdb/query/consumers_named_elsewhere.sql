-- purpose: consumers of a project by realm and UID, in the project's other regions
-- index:   project_regions_pkey, consumers_pkey
-- rows:    one probe for each consumer in each of the project's other regions; none for a project with one region
-- locks:   none
SELECT
    -- @columns consumer AS c
FROM project_regions AS g
CROSS JOIN unnest($3::TEXT[], $4::TEXT[]) AS k (realm, uid)
CROSS JOIN LATERAL (
    SELECT
        -- @columns consumer AS t
    FROM consumers AS t
    WHERE t.region = g.region AND t.project_id = g.project_id AND t.realm = k.realm AND t.uid = k.uid
    LIMIT 1
) AS c
WHERE g.project_id = $2 AND g.region <> $1
