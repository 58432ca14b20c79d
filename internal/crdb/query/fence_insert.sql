-- purpose: create the fence of a new container
-- index:   fences_pkey
-- rows:    1
-- locks:   the new row
INSERT INTO fences (region, id, mark, stock)
VALUES ($1, $2, $3, $4)
