-- purpose: whether a pool, by the names of its project and its own, is granted to one of some consumers
-- index:   projects_name_key, pools_name_key, grants_pkey
-- rows:    1, and one probe for each consumer
-- locks:   none
SELECT count(*)
FROM unnest($3::TEXT[]) AS k (consumer)
CROSS JOIN LATERAL (
    SELECT g.consumer
    FROM grants AS g
    WHERE g.consumer = k.consumer AND g.subject_id = (
        SELECT p.id
        FROM pools AS p
        WHERE p.project_id = (SELECT o.id FROM projects AS o WHERE o.name = $1) AND p.name = $2
    )
    LIMIT 1
) AS t
