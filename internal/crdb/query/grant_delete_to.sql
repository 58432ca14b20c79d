-- purpose: delete all grants to a project, with it: a later project of its name must not inherit them
-- index:   grants_consumer_key
-- rows:    the grants
-- locks:   the rows
DELETE FROM grants
WHERE consumer = $1
