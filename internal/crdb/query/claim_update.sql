-- purpose: replace what can change of a claim at the revision that was read
-- index:   claims_pkey
-- rows:    1
-- locks:   the row
UPDATE claims
SET spec = $5, labels = $6, annotations = $7, generation = $8, revision = $9, updated_at = $10, reclaim_said = $11
WHERE region = $1 AND project_id = $2 AND name = $3 AND revision = $4
