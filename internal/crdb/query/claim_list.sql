-- purpose: a project's claims after a name, by name
-- index:   claims_pkey
-- rows:    the page
-- locks:   none
SELECT
    -- @columns claim AS c
FROM claims AS c
WHERE c.region = $1 AND c.project_id = $2 AND c.name > $3
ORDER BY c.name
LIMIT $4
