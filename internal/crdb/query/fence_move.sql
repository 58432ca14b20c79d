-- purpose: set a new version (mark) of a container's or project's fences in all regions, because data on which claims depend has changed
-- index:   regions_ordinal_key, fences_pkey
-- rows:    at most one for each region
-- locks:   the rows
UPDATE fences
SET mark = $2
WHERE region = ANY (ARRAY(SELECT g.name FROM regions AS g WHERE g.ordinal >= 0)) AND id = $1
