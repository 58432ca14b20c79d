-- purpose: count the pools, claims and spaces of a project before it is deleted
-- index:   pools_name_key, regions_ordinal_key, holds_name_key, spaces_name_key
-- rows:    all pools, claims and spaces of the project
-- locks:   none
SELECT
    (SELECT count(*) FROM pools WHERE project_id = $1),
    (
        SELECT coalesce(sum(n.claims), 0::DECIMAL)::INT8
        FROM regions AS g
        CROSS JOIN LATERAL (SELECT count(*) AS claims FROM holds AS c WHERE c.region = g.name AND c.holder_project_id = $1 AND c.name IS NOT NULL) AS n
        WHERE g.ordinal >= 0
    ),
    (SELECT count(*) FROM spaces WHERE project_id = $1 AND name <> 'default')
