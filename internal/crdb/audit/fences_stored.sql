-- purpose: all fences, for the audit to compare in Go
-- index:   none: the audit reads whole tables, in one snapshot, outside of the hot path
-- rows:    all
-- locks:   none
-- region:  every, because an audit is about all of them
SELECT region::TEXT, id, stock
FROM fences
