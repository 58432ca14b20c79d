-- purpose: the database's regions, in the order of their addition
-- index:   regions_ordinal_key
-- rows:    the regions
-- locks:   none
-- roles:   server, retention
SELECT name, ordinal, created_at
FROM regions
WHERE ordinal >= 0
ORDER BY ordinal
