-- purpose: claims of a project by name, in the given regions
-- index:   holds_name_key
-- rows:    one probe for each name and region
-- locks:   none
SELECT
    -- @columns held AS c
FROM unnest($1::TEXT[]) AS r (region)
CROSS JOIN unnest($3::TEXT[]) AS k (name)
CROSS JOIN LATERAL (
    SELECT
        -- @columns held AS t
    FROM holds AS t
    WHERE t.region = r.region::crdb_internal_region AND t.holder_project_id = $2 AND t.name = k.name AND t.name IS NOT NULL
    LIMIT 1
) AS c
