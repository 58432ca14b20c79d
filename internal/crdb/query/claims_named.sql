-- purpose: those of some claims, by project and name, that exist
-- index:   claims_pkey
-- rows:    one probe for each name
-- locks:   none
SELECT f.project_id, f.name
FROM unnest($2::UUID[], $3::TEXT[]) AS k (project_id, name)
CROSS JOIN LATERAL (
    SELECT t.project_id, t.name
    FROM claims AS t
    WHERE t.region = $1 AND t.project_id = k.project_id AND t.name = k.name
    LIMIT 1
) AS f
