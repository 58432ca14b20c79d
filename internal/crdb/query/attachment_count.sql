-- purpose: count a consumer's attachments to claims
-- index:   project_regions_pkey, attachments_consumer_idx
-- rows:    the consumer's attachments, in all regions of the project
-- locks:   none
SELECT coalesce(sum(a.n), 0::DECIMAL)::INT8 AS claims
FROM project_regions AS g
CROSS JOIN LATERAL (
    SELECT count(*) AS n
    FROM attachments AS t
    WHERE t.region = g.region AND t.project_id = g.project_id AND t.realm = $2 AND t.uid = $3 AND t.claim_name <> ''
) AS a
WHERE g.project_id = $1
