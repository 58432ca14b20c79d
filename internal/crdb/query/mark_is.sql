-- purpose: fail unless a fence has the mark that is remembered
-- index:   fences_pkey
-- rows:    1
-- locks:   none
SELECT 1 / (count(*) = 1)::INT4
FROM fences
WHERE region = $1 AND id = $2 AND mark = $3
