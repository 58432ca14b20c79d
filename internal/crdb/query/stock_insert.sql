-- purpose: add the epoch of a pool in a region that begins to serve it
-- index:   stocks_pkey
-- rows:    1
-- locks:   the new row
INSERT INTO stocks (region, pool_id, epoch)
VALUES ($1, $2, $3)
