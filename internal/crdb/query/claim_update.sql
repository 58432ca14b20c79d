-- purpose: replace what can change of a claim at the revision that was read
-- index:   claims_pkey
-- rows:    1
-- locks:   the row
UPDATE claims
SET
    -- @set claim_rule FROM $5
WHERE region = $1 AND project_id = $2 AND name = $3 AND revision = $4
