-- purpose: make room for a new answer under an idempotency key, where the one that is there has expired
-- index:   idempotency_keys_pkey
-- rows:    1
-- locks:   the row
-- IS TRUE: never by idempotency_keys_expires_idx
DELETE FROM idempotency_keys
WHERE region = $1 AND project_id = $2 AND key = $3 AND (expires_at <= $4) IS TRUE
