-- purpose: delete all grants of a pool or space, with the pool or space
-- index:   grants_pkey
-- rows:    the grants
-- locks:   the rows
DELETE FROM grants
WHERE subject_id = $1
