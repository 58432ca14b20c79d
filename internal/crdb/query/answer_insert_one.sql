-- purpose: of one, store answers; keys that are in use are left out of the answer, expired ones are replaced
-- index:   idempotency_keys_pkey
-- rows:    1
-- locks:   the rows
INSERT INTO idempotency_keys (region, project_id, key, fingerprint, answer, created_at, expires_at)
SELECT $1::crdb_internal_region, k.project_id, k.key, k.fingerprint, k.answer, k.created_at, k.expires_at
FROM (VALUES ($2::UUID, $3::TEXT, $4::BYTEA, $5::BYTEA, $6::TIMESTAMPTZ, $7::TIMESTAMPTZ)) AS k (project_id, key, fingerprint, answer, created_at, expires_at)
ON CONFLICT (region, project_id, key) DO UPDATE
SET fingerprint = excluded.fingerprint, answer = excluded.answer, created_at = excluded.created_at, expires_at = excluded.expires_at
WHERE idempotency_keys.expires_at <= excluded.created_at
RETURNING project_id, key
