-- purpose: store answers; keys that are in use are left out of the answer, expired ones are replaced
-- index:   idempotency_keys_pkey
-- rows:    one for each key
-- locks:   the rows
-- shapes:  one
INSERT INTO idempotency_keys (
    region,
    -- @columns answer
)
SELECT
    $1::crdb_internal_region,
    -- @values answer FROM $2
-- @from answer FROM $2
ON CONFLICT (region, project_id, key) DO UPDATE
SET fingerprint = excluded.fingerprint, answer = excluded.answer, created_at = excluded.created_at, expires_at = excluded.expires_at
WHERE idempotency_keys.expires_at <= excluded.created_at
RETURNING project_id, key
