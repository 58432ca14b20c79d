-- purpose: the realm, expiry and time to live of each consumer that expired between two times and has not ended, earliest expiry first
-- index:   consumers_expiry_idx
-- rows:    such consumers, up to the limit: mostly none, but many while a mass expiry waits for its confirmation
-- locks:   none
SELECT c.project_id, c.realm, c.expires_at, c.ttl_seconds
FROM consumers AS c
WHERE c.region = $1 AND c.expires_at >= $2 AND c.expires_at < $3 AND c.ended_at IS NULL AND c.expires_at IS NOT NULL
ORDER BY c.expires_at
LIMIT $4
