-- purpose: replace the mutable columns of a pool at the revision that was read
-- index:   pools_pkey
-- rows:    1
-- locks:   the row
UPDATE pools
SET
    -- @set pool_policy, pool_texts FROM $3
WHERE id = $1 AND revision = $2
