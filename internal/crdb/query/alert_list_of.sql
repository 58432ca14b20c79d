-- purpose: the alerts of a rule
-- index:   alerts_pkey
-- rows:    at most 500
-- locks:   none
SELECT
    -- @columns alert AS a
FROM alerts AS a
WHERE a.region = $1 AND a.project_id = $2 AND a.rule = $3
