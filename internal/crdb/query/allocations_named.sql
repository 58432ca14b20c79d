-- purpose: some allocations by region and id, in whichever projects' pools they are
-- index:   allocations_id_key
-- rows:    one probe for each
-- locks:   none
SELECT
    -- @columns allocation AS a
FROM unnest($1::TEXT[], $2::UUID[]) AS k (region, id)
CROSS JOIN LATERAL (
    SELECT
        -- @columns allocation AS b
    FROM allocations AS b
    WHERE b.region = k.region::crdb_internal_region AND b.id = k.id
    LIMIT 1
) AS a
