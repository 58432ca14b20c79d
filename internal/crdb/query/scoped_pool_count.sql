-- purpose: count the pools that were carved for scopes of a class
-- index:   pools_scope_key
-- rows:    these pools
-- locks:   none
SELECT count(*)
FROM pools
WHERE scope_class_id = $1 AND scope_class_id IS NOT NULL
