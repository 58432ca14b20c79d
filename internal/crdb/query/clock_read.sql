-- purpose: the time of the database's clock, which all servers use
-- index:   none
-- rows:    1
-- locks:   none
-- roles:   server, retention
SELECT clock_timestamp()
