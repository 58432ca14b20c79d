-- purpose: alerts of a project by rule and subject, in the given regions
-- index:   alerts_pkey
-- rows:    one probe for each alert and region
-- locks:   none
SELECT
    -- @columns alert AS w
FROM unnest($1::TEXT[]) AS r (region)
CROSS JOIN unnest($3::TEXT[], $4::TEXT[]) AS k (rule, subject)
CROSS JOIN LATERAL (
    SELECT
        -- @columns alert AS t
    FROM alerts AS t
    WHERE t.region = r.region::crdb_internal_region AND t.project_id = $2 AND t.rule = k.rule AND t.subject = k.subject
    LIMIT 1
) AS w
