-- purpose: those of some consumers that a pool or space is granted to
-- index:   grants_pkey
-- rows:    one probe for each consumer, however many the grants are
-- locks:   none
SELECT g.consumer
FROM unnest($2::TEXT[]) AS k (consumer)
CROSS JOIN LATERAL (
    SELECT t.consumer
    FROM grants AS t
    WHERE t.subject_id = $1 AND t.consumer = k.consumer
    LIMIT 1
) AS g
