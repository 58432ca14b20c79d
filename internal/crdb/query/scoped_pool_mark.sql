-- purpose: set the time since which a scoped pool has been empty, if it is still the time that was read; the revision does not change
-- index:   pools_pkey
-- rows:    1
-- locks:   the row
UPDATE pools
SET empty_since = $3
WHERE id = $1 AND empty_since IS NOT DISTINCT FROM $2::TIMESTAMPTZ
