-- purpose: fail unless a fence still has the version (mark) that is cached
-- index:   fences_pkey
-- rows:    1
-- locks:   none
SELECT 1 / (count(*) = 1)::INT4
FROM fences
WHERE region = $1 AND id = $2 AND mark = $3
