-- purpose: renew consumers of a realm that have not ended, with their present time to live or with a new one
-- index:   consumers_pkey
-- rows:    one for each consumer, 1,000 at most
-- locks:   the rows
UPDATE consumers AS c
SET
    revision = $5,
    renewed_at = $6,
    updated_at = CASE WHEN $7::INT8 IS NULL OR c.ttl_seconds = $7 THEN c.updated_at ELSE $6 END,
    generation = CASE WHEN $7::INT8 IS NULL OR c.ttl_seconds = $7 THEN c.generation ELSE c.generation + 1 END,
    ttl_seconds = coalesce($7, c.ttl_seconds),
    expires_at = CASE WHEN coalesce($7, c.ttl_seconds) = 0 THEN NULL ELSE $6::TIMESTAMPTZ + coalesce($7, c.ttl_seconds) * '1 second'::INTERVAL END
WHERE c.region = $1 AND c.project_id = $2 AND c.realm = $3 AND c.uid = ANY ($4::TEXT[]) AND c.reason = ''
