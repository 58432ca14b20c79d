-- purpose: count the expired consumers of a realm that have not ended
-- index:   consumers_realm_expiry_idx
-- rows:    these consumers
-- locks:   none
SELECT count(*) AS expired
FROM consumers AS c
WHERE c.region = $1 AND c.project_id = $2 AND c.realm = $3 AND c.expires_at < $4 AND c.reason = '' AND c.expires_at IS NOT NULL
