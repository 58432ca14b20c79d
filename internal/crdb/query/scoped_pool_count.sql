-- purpose: how many pools were carved for the scopes of a class
-- index:   pools_scope_key
-- rows:    the pools
-- locks:   none
SELECT count(*)
FROM pools
WHERE scope_class_id = $1 AND scope_class_id IS NOT NULL
