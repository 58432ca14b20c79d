-- purpose: delete the fences of a deleted project in all regions
-- index:   regions_ordinal_key, fences_pkey
-- rows:    at most one for each region
-- locks:   the rows
DELETE FROM fences
WHERE region = ANY (ARRAY(SELECT g.name FROM regions AS g WHERE g.ordinal >= 0)) AND id = $1
