-- purpose: another mark for a container or a project, wherever it has a fence, because what claims are decided by has changed
-- index:   regions_ordinal_key, fences_pkey
-- rows:    one for each region, or none
-- locks:   the rows
UPDATE fences
SET mark = $2
WHERE region = ANY (ARRAY(SELECT g.name FROM regions AS g WHERE g.ordinal >= 0)) AND id = $1
