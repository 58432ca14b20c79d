-- purpose: one allocation by id in the given regions, if it is in a pool of the given project or the project holds it
-- index:   holds_id_key
-- rows:    one probe for each region
-- locks:   none
SELECT
    -- @columns held AS a
FROM unnest($1::TEXT[]) AS r (region)
CROSS JOIN LATERAL (
    SELECT
        -- @columns held AS b
    FROM holds AS b
    WHERE b.region = r.region::crdb_internal_region AND b.id = $2 AND b.purpose <> 'RootPool' AND (b.project_id = $3 OR b.holder_project_id = $3)
    LIMIT 1
) AS a
