-- purpose: claims of some projects, of some regions, whose names begin with a text, by name
-- index:   holds_name_key
-- rows:    the limit for each project and region
-- locks:   none
SELECT
    -- @columns held AS a
FROM unnest($1::TEXT[]) AS r (region)
CROSS JOIN unnest($2::UUID[]) AS k (project_id)
CROSS JOIN LATERAL (
    SELECT
        -- @columns held AS t
    FROM holds AS t
    WHERE t.region = r.region::crdb_internal_region AND t.holder_project_id = k.project_id AND t.name >= $3 AND t.name < $4 AND t.name IS NOT NULL
    ORDER BY t.name
    LIMIT $5
) AS a
ORDER BY a.name, a.holder_project_id
LIMIT $5
