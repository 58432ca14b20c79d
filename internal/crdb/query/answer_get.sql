-- purpose: the stored response of an idempotency key that has not expired
-- index:   idempotency_keys_pkey
-- rows:    1
-- locks:   none
-- IS TRUE keeps planners from using idempotency_keys_expires_idx
SELECT fingerprint, expires_at, answer
FROM idempotency_keys
WHERE region = $1 AND project_id = $2 AND key = $3 AND (expires_at > $4) IS TRUE
