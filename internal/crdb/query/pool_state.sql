-- purpose: whether a pool is as it was read before, and since when it has been empty, which is no part of its revision
-- index:   pools_pkey
-- rows:    1
-- locks:   none
SELECT revision, empty_since
FROM pools
WHERE id = $1
