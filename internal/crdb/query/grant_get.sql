-- purpose: the grant of a pool or space to one consumer
-- index:   grants_pkey
-- rows:    1
-- locks:   none
SELECT
    -- @columns grant AS g
FROM grants AS g
WHERE g.subject_id = $1 AND g.consumer = $2
