-- purpose: a page of the realms whose expired consumers are not ended now
-- index:   realms_pkey
-- rows:    the stored states of realms: mostly none
-- locks:   none
SELECT project_id, name
FROM realms
WHERE region = $1 AND project_id > $2 AND held_since IS NOT NULL
ORDER BY project_id, name
LIMIT $3
