-- purpose: replace what can change of a pool at the revision that was read
-- index:   pools_pkey
-- rows:    1
-- locks:   the row
UPDATE pools
SET visibility = $3, strategy = $4, min_plen = $5, max_plen = $6, default_plen = $7, reservations = $8, description = $9,
    labels = $10, annotations = $11, generation = $12, revision = $13, updated_at = $14, classes = $15, reuse_after_seconds = $16, regions = $17
WHERE id = $1 AND revision = $2
