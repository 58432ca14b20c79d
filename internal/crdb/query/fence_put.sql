-- purpose: write the fence of a container after a count of its rows, and replace an existing one
-- index:   fences_pkey
-- rows:    1
-- locks:   the row
INSERT INTO fences (region, id, mark, stock)
VALUES ($1, $2, $3, $4)
ON CONFLICT (region, id) DO UPDATE
SET mark = excluded.mark, stock = excluded.stock
