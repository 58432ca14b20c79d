-- purpose: consumers of some projects, of some regions, in one realm, whose UIDs begin with a text, by UID
-- index:   consumers_pkey
-- rows:    the limit for each project and region
-- locks:   none
SELECT
    -- @columns consumer AS c
FROM unnest($1::TEXT[]) AS r (region)
CROSS JOIN unnest($2::UUID[]) AS k (project_id)
CROSS JOIN LATERAL (
    SELECT
        -- @columns consumer AS t
    FROM consumers AS t
    WHERE t.region = r.region::crdb_internal_region AND t.project_id = k.project_id AND t.realm = $3 AND t.uid >= $4 AND t.uid < $5
    ORDER BY t.uid
    LIMIT $6
) AS c
ORDER BY c.uid, c.project_id
LIMIT $6
