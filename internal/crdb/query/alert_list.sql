-- purpose: a project's alerts of some regions after one, by rule and subject
-- index:   alerts_pkey
-- rows:    the page for each region
-- locks:   none
SELECT
    -- @columns alert AS w
FROM unnest($1::TEXT[]) AS r (region)
CROSS JOIN LATERAL (
    SELECT
        -- @columns alert AS t
    FROM alerts AS t
    WHERE t.region = r.region::crdb_internal_region AND t.project_id = $2 AND (t.rule, t.subject) > ($3, $4)
    ORDER BY t.rule, t.subject
    LIMIT $5
) AS w
ORDER BY w.rule, w.subject
LIMIT $5
