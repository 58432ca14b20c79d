-- purpose: claims to which a consumer is attached
-- index:   attachments_consumer_idx
-- rows:    the limit
-- locks:   none
SELECT
    -- @columns attachment AS a
FROM attachments AS a
WHERE a.region = $1 AND a.project_id = $2 AND a.realm = $3 AND a.uid = $4 AND a.claim_name <> ''
ORDER BY a.claim_name
LIMIT $5
