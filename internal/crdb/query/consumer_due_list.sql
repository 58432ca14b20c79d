-- purpose: consumers of a realm that expired before a time and whose time to live is at most a maximum, earliest expiry first
-- index:   consumers_realm_expiry_idx
-- rows:    the limit
-- locks:   none
SELECT
    -- @columns consumer AS c
FROM consumers AS c
WHERE c.region = $1 AND c.project_id = $2 AND c.realm = $3 AND c.expires_at < $4 AND c.reason = '' AND c.expires_at IS NOT NULL AND c.ttl_seconds <= $5
ORDER BY c.expires_at
LIMIT $6
