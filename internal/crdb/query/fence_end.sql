-- purpose: end the fence of a project that is deleted, if it has one in a region
-- index:   fences_pkey
-- rows:    1, or none
-- locks:   the row
DELETE FROM fences
WHERE region = $1 AND id = $2
