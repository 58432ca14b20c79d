-- purpose: what time it is by the database's clock, which all servers go by
-- index:   none
-- rows:    1
-- locks:   none
-- roles:   server, retention
SELECT clock_timestamp()
