-- purpose: spaces of some projects whose names begin with a text, by name
-- index:   spaces_name_key
-- rows:    the limit for each project
-- locks:   none
SELECT
    -- @columns space AS s
FROM unnest($1::UUID[]) AS k (project_id)
CROSS JOIN LATERAL (
    SELECT
        -- @columns space AS t
    FROM spaces AS t
    WHERE t.project_id = k.project_id AND t.name >= $2 AND t.name < $3
    ORDER BY t.name
    LIMIT $4
) AS s
ORDER BY s.name, s.project_id
LIMIT $4
