-- purpose: one claim of a project by name, in the other regions in which the project may have claims
-- index:   project_regions_pkey, claims_pkey
-- rows:    one probe for each of the project's other regions: none for a project that works in one
-- locks:   none
SELECT
    -- @columns claim AS c
FROM project_regions AS g
CROSS JOIN LATERAL (
    SELECT
        -- @columns claim AS t
    FROM claims AS t
    WHERE t.region = g.region AND t.project_id = g.project_id AND t.name = $3
    LIMIT 1
) AS c
WHERE g.project_id = $2 AND g.region <> $1
