-- purpose: a project's consumers of one realm in a region whose UIDs begin with a text, sorted by UID
-- index:   consumers_pkey
-- rows:    the limit
-- locks:   none
SELECT
    -- @columns consumer AS c
FROM consumers AS c
WHERE c.region = $1 AND c.project_id = $2 AND c.realm = $3 AND c.uid >= $4 AND c.uid < $5
ORDER BY c.uid
LIMIT $6
