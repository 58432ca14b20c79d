-- purpose: delete a pool at the revision that was read
-- index:   pools_pkey
-- rows:    1
-- locks:   the row
DELETE FROM pools
WHERE id = $1 AND revision = $2
