-- purpose: all fences; Go compares them with the counts
-- index:   none: the audit reads whole tables, in one snapshot, outside of the hot path
-- rows:    all
-- locks:   none
-- region:  every, because an audit is about all of them
SELECT f.region::TEXT, f.id, f.stock, p.id IS NOT NULL
FROM fences AS f
LEFT JOIN projects AS p ON p.id = f.id
