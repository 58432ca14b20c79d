-- purpose: delete the fence of a deleted container
-- index:   fences_pkey
-- rows:    1
-- locks:   the row
DELETE FROM fences
WHERE region = $1 AND id = $2
