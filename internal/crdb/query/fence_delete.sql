-- purpose: end the fence of a container that is gone
-- index:   fences_pkey
-- rows:    1
-- locks:   the row
DELETE FROM fences
WHERE region = $1 AND id = $2
