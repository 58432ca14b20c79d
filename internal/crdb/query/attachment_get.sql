-- purpose: the attachment of a consumer to a claim
-- index:   attachments_pkey
-- rows:    1
-- locks:   none
SELECT
    -- @columns attachment AS a
FROM attachments AS a
WHERE a.region = $1 AND a.project_id = $2 AND a.claim_id = $3 AND a.realm = $4 AND a.uid = $5
