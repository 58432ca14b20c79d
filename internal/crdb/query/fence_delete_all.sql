-- purpose: end the fences of a project that is gone, in all regions
-- index:   regions_ordinal_key, fences_pkey
-- rows:    one for each region, or none
-- locks:   the rows
DELETE FROM fences
WHERE region = ANY (ARRAY(SELECT g.name FROM regions AS g WHERE g.ordinal >= 0)) AND id = $1
