-- purpose: a page of the claims to which a consumer is attached, after a given name, sorted by name
-- index:   attachments_consumer_idx, holds_name_key
-- rows:    the page
-- locks:   none
SELECT
    -- @columns held AS c
FROM (
    SELECT t.region, t.project_id, t.claim_name
    FROM attachments AS t
    WHERE t.region = $1 AND t.project_id = $2 AND t.realm = $3 AND t.uid = $4 AND t.claim_name <> '' AND t.claim_name > $5
    ORDER BY t.claim_name
    LIMIT $6
) AS a
CROSS JOIN LATERAL (
    SELECT
        -- @columns held AS h
    FROM holds AS h
    WHERE h.region = a.region AND h.holder_project_id = a.project_id AND h.name = a.claim_name AND h.name IS NOT NULL
    LIMIT 1
) AS c
ORDER BY c.name
