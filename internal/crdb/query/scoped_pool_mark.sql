-- purpose: set since when a scoped pool has been empty, if it is still as it was read; its revision stays
-- index:   pools_pkey
-- rows:    1
-- locks:   the row
UPDATE pools
SET empty_since = $3
WHERE id = $1 AND empty_since IS NOT DISTINCT FROM $2::TIMESTAMPTZ
