-- purpose: the consumers among the given ones to which a pool or space is granted
-- index:   grants_pkey
-- rows:    one probe for each consumer, independent of the number of grants
-- locks:   none
SELECT g.consumer
FROM unnest($2::TEXT[]) AS k (consumer)
CROSS JOIN LATERAL (
    SELECT t.consumer
    FROM grants AS t
    WHERE t.subject_id = $1 AND t.consumer = k.consumer
    LIMIT 1
) AS g
