-- purpose: how many consumers of a realm have expired whose time to live is not longer than some, and were not ended
-- index:   consumers_realm_expiry_idx
-- rows:    those of the realm that have expired and were not ended
-- locks:   none
SELECT count(*) AS due
FROM consumers AS c
WHERE c.region = $1 AND c.project_id = $2 AND c.realm = $3 AND c.expires_at < $4 AND c.reason = '' AND c.expires_at IS NOT NULL AND c.ttl_seconds <= $5
