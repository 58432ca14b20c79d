-- purpose: the claims among the given ones (project, name) that exist
-- index:   holds_name_key
-- rows:    one probe for each name
-- locks:   none
SELECT f.project_id, f.name
FROM unnest($2::UUID[], $3::TEXT[]) AS k (project_id, name)
CROSS JOIN LATERAL (
    SELECT t.holder_project_id AS project_id, t.name
    FROM holds AS t
    WHERE t.region = $1 AND t.holder_project_id = k.project_id AND t.name = k.name AND t.name IS NOT NULL
    LIMIT 1
) AS f
