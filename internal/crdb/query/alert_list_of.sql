-- purpose: the alerts of a rule
-- index:   alerts_pkey
-- rows:    500 at most
-- locks:   none
SELECT
    -- @columns alert AS a
FROM alerts AS a
WHERE a.region = $1 AND a.project_id = $2 AND a.rule = $3
