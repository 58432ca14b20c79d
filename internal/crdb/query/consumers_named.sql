-- purpose: consumers of a project by realm and UID
-- index:   consumers_pkey
-- rows:    one probe for each consumer
-- locks:   none
SELECT
    -- @columns consumer AS c
FROM unnest($3::TEXT[], $4::TEXT[]) AS k (realm, uid)
CROSS JOIN LATERAL (
    SELECT
        -- @columns consumer AS t
    FROM consumers AS t
    WHERE t.region = $1 AND t.project_id = $2 AND t.realm = k.realm AND t.uid = k.uid
    LIMIT 1
) AS c
