-- purpose: set a new epoch of a pool's rows in a region, if the epoch is still the one that was read
-- index:   stocks_pkey
-- rows:    1
-- locks:   the row
UPDATE stocks
SET epoch = $4
WHERE region = $1 AND pool_id = $2 AND epoch = $3
