-- purpose: delete all grants to the name of a new or deleted project, so that a new project inherits no grants
-- index:   grants_consumer_key
-- rows:    the grants
-- locks:   the rows
DELETE FROM grants
WHERE consumer = $1
