-- purpose: the claims that a consumer is attached to, of all regions of the project, after a name, by name
-- index:   project_regions_pkey, attachments_consumer_idx, holds_name_key
-- rows:    the page for each of the project's regions
-- locks:   none
SELECT
    -- @columns held AS c
FROM project_regions AS g
CROSS JOIN LATERAL (
    SELECT t.region, t.project_id, t.claim_name
    FROM attachments AS t
    WHERE t.region = g.region AND t.project_id = g.project_id AND t.realm = $2 AND t.uid = $3 AND t.claim_name <> '' AND t.claim_name > $4
    ORDER BY t.claim_name
    LIMIT $5
) AS a
CROSS JOIN LATERAL (
    SELECT
        -- @columns held AS h
    FROM holds AS h
    WHERE h.region = a.region AND h.holder_project_id = a.project_id AND h.name = a.claim_name AND h.name IS NOT NULL
    LIMIT 1
) AS c
WHERE g.project_id = $1
ORDER BY c.name
LIMIT $5
