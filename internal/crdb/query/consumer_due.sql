-- purpose: of which realms consumers have expired between two times, the longest past first: a row for each
-- index:   consumers_expiry_idx
-- rows:    those that have expired and were not ended, up to the limit: mostly none, and many while it is not confirmed that so many are gone
-- locks:   none
SELECT c.project_id, c.realm, c.expires_at, c.ttl_seconds
FROM consumers AS c
WHERE c.region = $1 AND c.expires_at >= $2 AND c.expires_at < $3 AND c.ended_at IS NULL AND c.expires_at IS NOT NULL
ORDER BY c.expires_at
LIMIT $4
