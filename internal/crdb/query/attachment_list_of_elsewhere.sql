-- purpose: claims to which a consumer is attached, in the project's other regions
-- index:   project_regions_pkey, attachments_consumer_idx
-- rows:    the limit for each of the project's other regions
-- locks:   none
SELECT
    -- @columns attachment AS a
FROM project_regions AS g
CROSS JOIN LATERAL (
    SELECT
        -- @columns attachment AS t
    FROM attachments AS t
    WHERE t.region = g.region AND t.project_id = g.project_id AND t.realm = $3 AND t.uid = $4 AND t.claim_name <> ''
    ORDER BY t.claim_name
    LIMIT $5
) AS a
WHERE g.project_id = $2 AND g.region <> $1
