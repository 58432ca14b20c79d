-- purpose: the idempotency keys among the given ones that have a stored response, with its expiry, expired ones included
-- index:   idempotency_keys_pkey
-- rows:    one probe for each key
-- locks:   none
SELECT f.project_id, f.key, f.expires_at
FROM unnest($2::UUID[], $3::UUID[]) AS k (project_id, key)
CROSS JOIN LATERAL (
    SELECT t.project_id, t.key, t.expires_at
    FROM idempotency_keys AS t
    WHERE t.region = $1 AND t.project_id = k.project_id AND t.key = k.key
    LIMIT 1
) AS f
