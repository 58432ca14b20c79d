-- purpose: the lowest schema version that a program must know to use this database
-- index:   compatibility_pkey
-- rows:    1
-- locks:   none
-- roles:   server, retention, reader
SELECT minimum
FROM compatibility
WHERE id = 1
