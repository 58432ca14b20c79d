-- purpose: the scopes of pools, with the specs of their classes; Go checks them
-- index:   none: the audit reads whole tables, in one snapshot, outside of the hot path
-- rows:    all pools that were carved for scopes
-- locks:   none
-- region:  every, because an audit is about all of them
SELECT p.id::TEXT, p.name, p.scope, c.spec
FROM pools AS p
JOIN classes AS c ON c.id = p.scope_class_id
WHERE p.scope IS NOT NULL
