-- purpose: one claim of a project by name, in the project's other regions
-- index:   project_regions_pkey, holds_name_key
-- rows:    one probe for each of the project's other regions; none for a project with one region
-- locks:   none
SELECT
    -- @columns held AS c
FROM project_regions AS g
CROSS JOIN LATERAL (
    SELECT
        -- @columns held AS t
    FROM holds AS t
    WHERE t.region = g.region AND t.holder_project_id = g.project_id AND t.name = $3 AND t.name IS NOT NULL
    LIMIT 1
) AS c
WHERE g.project_id = $2 AND g.region <> $1
