-- purpose: count the expired consumers of a realm that have not ended and whose time to live is at most a maximum
-- index:   consumers_realm_expiry_idx
-- rows:    the realm's expired consumers that have not ended
-- locks:   none
SELECT count(*) AS due
FROM consumers AS c
WHERE c.region = $1 AND c.project_id = $2 AND c.realm = $3 AND c.expires_at < $4 AND c.reason = '' AND c.expires_at IS NOT NULL AND c.ttl_seconds <= $5
