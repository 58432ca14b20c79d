-- purpose: delete all grants to the name of a project that is made or deleted: a project has the grants alone that were made to it
-- index:   grants_consumer_key
-- rows:    the grants
-- locks:   the rows
DELETE FROM grants
WHERE consumer = $1
