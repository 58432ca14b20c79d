-- purpose: a page of the consumers of a claim after a given one, sorted by realm and UID
-- index:   attachments_pkey
-- rows:    the page
-- locks:   none
SELECT
    -- @columns attachment AS a
FROM attachments AS a
WHERE a.region = $1 AND a.project_id = $2 AND a.claim_id = $3 AND (a.realm, a.uid) > ($4::TEXT, $5::TEXT)
ORDER BY a.realm, a.uid
LIMIT $6
