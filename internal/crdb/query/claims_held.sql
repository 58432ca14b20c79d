-- purpose: those of some claims, by region, name and id, that exist
-- index:   claims_pkey
-- rows:    one probe for each claim
-- locks:   none
SELECT f.id
FROM unnest($2::TEXT[], $3::TEXT[], $4::UUID[]) AS k (region, name, id)
CROSS JOIN LATERAL (
    SELECT t.id
    FROM claims AS t
    WHERE t.region = k.region::crdb_internal_region AND t.project_id = $1 AND t.name = k.name AND t.id = k.id
    LIMIT 1
) AS f
