-- purpose: the allocations among the given ids that a project holds in pools of any project, in the given regions
-- index:   holds_id_key
-- rows:    one probe for each id and region
-- locks:   none
SELECT
    -- @columns held AS a
FROM unnest($1::TEXT[]) AS r (region)
CROSS JOIN unnest($3::UUID[]) AS k (id)
CROSS JOIN LATERAL (
    SELECT
        -- @columns held AS t
    FROM holds AS t
    WHERE t.region = r.region::crdb_internal_region AND t.id = k.id
    LIMIT 1
) AS a
WHERE a.holder_project_id = $2 AND a.purpose = 'Claim' AND a.phase <> 'CoolingDown'
