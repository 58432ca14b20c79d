-- purpose: a page of the grants of a pool or space after a given consumer, sorted by consumer
-- index:   grants_pkey
-- rows:    the page
-- locks:   none
SELECT
    -- @columns grant AS g
FROM grants AS g
WHERE g.subject_id = $1 AND g.consumer > $2
ORDER BY g.consumer
LIMIT $3
