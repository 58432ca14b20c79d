-- purpose: the lowest schema that a program must know to work on this database
-- index:   compatibility_pkey
-- rows:    1
-- locks:   none
-- roles:   server, retention, reader
SELECT minimum
FROM compatibility
WHERE id = 1
