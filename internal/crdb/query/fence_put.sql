-- purpose: the fence of a container whose rows were all counted, whatever it was before
-- index:   fences_pkey
-- rows:    1
-- locks:   the row
INSERT INTO fences (region, id, mark, stock)
VALUES ($1, $2, $3, $4)
ON CONFLICT (region, id) DO UPDATE
SET mark = excluded.mark, stock = excluded.stock
