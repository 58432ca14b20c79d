-- purpose: the next mark and stock of a container, if it still has the mark that was read
-- index:   fences_pkey
-- rows:    1
-- locks:   the row
UPDATE fences
SET mark = $4, stock = $5
WHERE region = $1 AND id = $2 AND mark = $3
