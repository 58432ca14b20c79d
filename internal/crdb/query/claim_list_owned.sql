-- purpose: a page of a project's claims with one owner after a given name, sorted by name
-- index:   holds_owner_idx
-- rows:    the page
-- locks:   none
SELECT
    -- @columns held AS c
FROM holds AS c
WHERE c.region = $1 AND c.holder_project_id = $2 AND c.owner = $3 AND c.name > $4
ORDER BY c.name
LIMIT $5
