-- purpose: delete the expired response of an idempotency key, so that a new one can be stored
-- index:   idempotency_keys_pkey
-- rows:    1
-- locks:   the row
-- IS TRUE keeps planners from using idempotency_keys_expires_idx
DELETE FROM idempotency_keys
WHERE region = $1 AND project_id = $2 AND key = $3 AND (expires_at <= $4) IS TRUE
