-- purpose: the claims among the given ones (region, project, name) whose name is in use in another region of the project
-- index:   project_regions_pkey, holds_name_key
-- rows:    one probe for each name and each of its project's other regions
-- locks:   none
SELECT k.project_id, k.name
FROM unnest($1::TEXT[], $2::UUID[], $3::TEXT[]) AS k (region, project_id, name)
CROSS JOIN LATERAL (
    SELECT t.name
    FROM project_regions AS g
    CROSS JOIN LATERAL (
        SELECT c.name
        FROM holds AS c
        WHERE c.region = g.region AND c.holder_project_id = g.project_id AND c.name = k.name AND c.name IS NOT NULL
        LIMIT 1
    ) AS t
    WHERE g.project_id = k.project_id AND g.region <> k.region::crdb_internal_region
    LIMIT 1
) AS f
