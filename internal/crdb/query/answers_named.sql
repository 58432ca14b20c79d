-- purpose: those of some idempotency keys that have an answer, expired or not
-- index:   idempotency_keys_pkey
-- rows:    one probe for each key
-- locks:   none
SELECT f.project_id, f.key
FROM unnest($2::UUID[], $3::TEXT[]) AS k (project_id, key)
CROSS JOIN LATERAL (
    SELECT t.project_id, t.key
    FROM idempotency_keys AS t
    WHERE t.region = $1 AND t.project_id = k.project_id AND t.key = k.key
    LIMIT 1
) AS f
