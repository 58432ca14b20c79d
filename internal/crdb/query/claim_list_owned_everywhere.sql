-- purpose: a project's claims of one owner, of all its regions, after a name, by name
-- index:   project_regions_pkey, holds_owner_idx
-- rows:    the page for each of the project's regions
-- locks:   none
SELECT
    -- @columns held AS c
FROM project_regions AS g
CROSS JOIN LATERAL (
    SELECT
        -- @columns held AS t
    FROM holds AS t
    WHERE t.region = g.region AND t.holder_project_id = g.project_id AND t.owner = $2 AND t.name > $3
    ORDER BY t.name
    LIMIT $4
) AS c
WHERE g.project_id = $1
ORDER BY c.name
LIMIT $4
