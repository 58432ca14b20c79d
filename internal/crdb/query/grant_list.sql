-- purpose: the grants of a pool or space after a consumer, by consumer
-- index:   grants_pkey
-- rows:    the page
-- locks:   none
SELECT g.id, g.kind, g.subject_id, g.consumer, g.generation, g.revision, g.created_at, g.updated_at, g.created_by
FROM grants AS g
WHERE g.subject_id = $1 AND g.consumer > $2
ORDER BY g.consumer
LIMIT $3
