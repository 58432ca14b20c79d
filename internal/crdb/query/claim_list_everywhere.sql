-- purpose: a project's claims of all its regions after a name, by name
-- index:   project_regions_pkey, claims_pkey
-- rows:    the page for each of the project's regions
-- locks:   none
SELECT
    -- @columns claim AS c
FROM project_regions AS g
CROSS JOIN LATERAL (
    SELECT
        -- @columns claim AS t
    FROM claims AS t
    WHERE t.region = g.region AND t.project_id = g.project_id AND t.name > $2
    ORDER BY t.name
    LIMIT $3
) AS c
WHERE g.project_id = $1
ORDER BY c.name
LIMIT $3
