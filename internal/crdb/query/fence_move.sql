-- purpose: another mark for a container in a region, if it is there, because what its claims are decided by has changed
-- index:   fences_pkey
-- rows:    1, or none
-- locks:   the row
UPDATE fences
SET mark = $3
WHERE region = $1 AND id = $2
