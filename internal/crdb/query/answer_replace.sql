-- purpose: make room for new answers under some idempotency keys, where those that have one have expired
-- index:   idempotency_keys_pkey
-- rows:    one probe for each key
-- locks:   the rows
DELETE FROM idempotency_keys AS t
USING unnest($2::UUID[], $3::UUID[]) AS k (project_id, key)
WHERE t.region = $1 AND t.project_id = k.project_id AND t.key = k.key AND t.expires_at <= $4
