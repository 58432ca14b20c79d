-- purpose: delete the epoch of a pool in a region
-- index:   stocks_pkey
-- rows:    1
-- locks:   the row
DELETE FROM stocks
WHERE region = $1 AND pool_id = $2 AND epoch = $3
