-- purpose: delete expired responses
-- index:   idempotency_keys_expires_idx, idempotency_keys_pkey
-- rows:    the limit
-- locks:   the rows
DELETE FROM idempotency_keys
WHERE region = $1 AND (project_id, key) IN (
    SELECT i.project_id, i.key
    FROM idempotency_keys AS i
    WHERE i.region = $1 AND i.expires_at <= $2
    ORDER BY i.expires_at
    LIMIT $3
)
