-- purpose: what a project holds, before it is deleted
-- index:   pools_name_key, regions_ordinal_key, claims_pkey, spaces_name_key
-- rows:    all that the project holds
-- locks:   none
SELECT
    (SELECT count(*) FROM pools WHERE project_id = $1),
    (
        SELECT coalesce(sum(n.claims), 0::DECIMAL)::INT8
        FROM regions AS g
        CROSS JOIN LATERAL (SELECT count(*) AS claims FROM claims AS c WHERE c.region = g.name AND c.project_id = $1) AS n
        WHERE g.ordinal >= 0
    ),
    (SELECT count(*) FROM spaces WHERE project_id = $1 AND name <> 'default')
