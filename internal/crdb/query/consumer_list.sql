-- purpose: a page of a realm's consumers after a given UID, sorted by UID
-- index:   consumers_pkey
-- rows:    the page
-- locks:   none
SELECT
    -- @columns consumer AS c
FROM consumers AS c
WHERE c.region = $1 AND c.project_id = $2 AND c.realm = $3 AND c.uid > $4
ORDER BY c.uid
LIMIT $5
