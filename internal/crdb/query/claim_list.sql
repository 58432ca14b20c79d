-- purpose: a page of a project's claims after a given name, sorted by name
-- index:   holds_name_key
-- rows:    the page
-- locks:   none
SELECT
    -- @columns held AS c
FROM holds AS c
WHERE c.region = $1 AND c.holder_project_id = $2 AND c.name > $3 AND c.name IS NOT NULL
ORDER BY c.name
LIMIT $4
