-- purpose: one claim of a project by name
-- index:   claims_pkey
-- rows:    1
-- locks:   none
SELECT
    -- @columns claim AS c
FROM claims AS c
WHERE c.region = $1 AND c.project_id = $2 AND c.name = $3
