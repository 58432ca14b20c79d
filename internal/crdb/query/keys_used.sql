-- purpose: record the times of the last use of keys; a time never moves back, and deleted keys are ignored
-- index:   api_keys_pkey
-- rows:    one for each key
-- locks:   the rows
UPDATE api_keys AS k
SET last_used_at = u.at
FROM unnest($1::UUID[], $2::TIMESTAMPTZ[]) AS u (id, at)
WHERE k.id = u.id AND (k.last_used_at IS NULL OR k.last_used_at < u.at)
